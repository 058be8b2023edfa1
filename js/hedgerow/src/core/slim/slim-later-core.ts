/** Starts the later part of the core from a file. Replaces `core/later-module.ts` in `hedgerow/slim`. */
import type { LaterOutput } from '../generated/exports.js';
import { instances } from '../instances.js';
import { compileFile } from './slim-compile.js';

const instantiate = instances<LaterOutput>(() =>
  compileFile(new URL('./hedgerow-later.wasm', import.meta.url)),
);

/** Starts the later part on the memory, the stack and the table of a running core: see `core/later-module.ts`. */
export function instantiateLater(first: WebAssembly.Exports): Promise<LaterOutput> {
  return instantiate({ first });
}
