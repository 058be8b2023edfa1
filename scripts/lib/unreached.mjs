// Removes unreached code from a module whose panics trap: the code that would format their messages.

import binaryen from 'binaryen';
import { plainName } from './panics.mjs';

// Functions that only a panic calls, through vtables of the values in its message.
const TELLING =
  /^<?core::fmt::|^<.* as core::fmt::\w+>::|^(<|core::ptr::drop_in_place::<)std::panicking::/;
const TELLS = /^<?(core::fmt|std::panicking)::/;

const DROP_UNREACHED = ['remove-unused-module-elements'];

/**
 * Returns the module without functions that no export reaches, and with traps in the place of functions that only a
 * panic calls.
 */
export function withoutUnreached(wasmBytes) {
  binaryen.setDebugInfo(true); // the names of functions, for profiles
  const module = binaryen.readBinary(wasmBytes);
  module.runPasses(DROP_UNREACHED);
  for (const { name, params, results } of tellingOf(module)) {
    module.removeFunction(name);
    module.addFunction(name, params, results, [], module.unreachable());
  }
  const bytes = module.emitBinary();
  module.dispose();
  return bytes;
}

const functionsOf = (module) =>
  Array.from({ length: module.getNumFunctions() }, (_, index) =>
    binaryen.getFunctionInfo(module.getFunctionByIndex(index)),
  );

/**
 * Returns the functions in tables that only format messages of panics; an empty list if any other code formats, since
 * that might call them.
 */
function tellingOf(module) {
  const others = binaryen.readBinary(module.emitBinary());
  const segments = Array.from({ length: others.getNumElementSegments() }, (_, index) =>
    binaryen.getElementSegmentInfo(others.getElementSegmentByIndex(index)),
  );
  const inTables = new Set(segments.flatMap(({ data }) => data));
  const isTelling = (name) => inTables.has(name) && TELLING.test(plainName(name));
  for (const name of inTables) {
    if (!isTelling(name)) others.addFunctionExport(name, `${name} in a table`);
  }
  for (const { name } of segments) others.removeElementSegment(name);
  others.runPasses(DROP_UNREACHED);
  const tells = functionsOf(others).some(({ name }) => TELLS.test(plainName(name)));
  others.dispose();
  return tells ? [] : functionsOf(module).filter(({ name }) => isTelling(name));
}
