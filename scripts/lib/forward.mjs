// A module in two parts for development: the first contains everything, the later part only forwards exports.

import binaryen from 'binaryen';

const FIRST = 'first';

/** `first` has the later exports under other names; `later` imports them and exports them under their own. */
export function forward(wasmBytes, isLater) {
  binaryen.setDebugInfo(true); // the names of functions
  const first = binaryen.readBinary(wasmBytes);
  const later = new binaryen.Module();
  for (let index = first.getNumExports() - 1; index >= 0; index--) {
    const { name, value } = binaryen.getExportInfo(first.getExportByIndex(index));
    if (!isLater(name)) continue;
    const { params, results } = binaryen.getFunctionInfo(first.getFunction(value));
    first.removeExport(name);
    first.addFunctionExport(value, `later ${name}`);
    later.addFunctionImport(name, FIRST, `later ${name}`, params, results);
    later.addFunctionExport(name, name);
  }
  const parts = { first: first.emitBinary(), later: later.emitBinary() };
  first.dispose();
  later.dispose();
  return parts;
}
