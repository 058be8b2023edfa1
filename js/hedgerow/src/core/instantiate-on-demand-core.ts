/**
 * The part of the core that a page does not download at its start; `scripts/lib/split.mjs` makes it. Import this file
 * only with `import()`, or the module becomes part of the first download.
 */

import { compilePackedModule } from './compile-packed-module.js';
import type { LaterOutput } from './generated/exports.js';
import { LATER_BASE64 } from './generated/later-module.js';
import { instances } from './instantiate-wasm.js';

const instantiate = instances<LaterOutput>(() => compilePackedModule(LATER_BASE64));

/**
 * Starts the later part on the memory, the stack and the table of a running core. `first` has the exports of that core
 * without the guard. The later part lives and traps with it.
 */
export function instantiateLater(first: WebAssembly.Exports): Promise<LaterOutput> {
  return instantiate({ first });
}
