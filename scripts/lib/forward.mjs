// Makes a module in two parts for development: the first contains everything, the later part only forwards exports.

import { exportSection, exportsOf, FUNCTION, functionTypesOf } from './boundary.mjs';
import { contentOf, editSections, integer, list, moduleOf, SECTIONS, text } from './sections.mjs';

const FIRST = 'first';

/**
 * Makes both parts: `first` has the later exports under other names; `later` imports them and exports them under their
 * own.
 */
export function forward(wasmBytes, isLater) {
  const exports = exportsOf(wasmBytes);
  const isForwarded = ({ name, kind }) => kind === FUNCTION && isLater(name);
  const forwarded = exports.filter(isForwarded);
  const renamed = exports.map((one) =>
    isForwarded(one) ? { ...one, name: `later ${one.name}` } : one,
  );
  const functionTypes = functionTypesOf(wasmBytes);
  const imports = forwarded.map(({ name, index }) =>
    Buffer.concat([
      text(FIRST),
      text(`later ${name}`),
      Uint8Array.of(FUNCTION),
      integer(functionTypes[index]),
    ]),
  );
  return {
    first: editSections(wasmBytes, { [SECTIONS.exports]: () => exportSection(renamed) }),
    later: moduleOf([
      [SECTIONS.types, contentOf(wasmBytes, SECTIONS.types)],
      [SECTIONS.imports, list(imports)],
      [SECTIONS.exports, exportSection(forwarded.map((one, index) => ({ ...one, index })))],
    ]),
  };
}
