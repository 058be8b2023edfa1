/** Starts the later part of the core from a file. Replaces `core/instantiate-on-demand-core.ts` in `hedgerow/slim`. */
import type { LaterOutput } from '../generated/exports.js';
import { instances } from '../instantiate-wasm.js';
import { compileFile } from './slim-compile.js';

const instantiate = instances<LaterOutput>(() =>
  compileFile(new URL('./hedgerow-later.wasm', import.meta.url)),
);

/** Starts the later part on the memory, the stack and the table of a running core: see `core/instantiate-on-demand-core.ts`. */
export function instantiateLater(first: WebAssembly.Exports): Promise<LaterOutput> {
  return instantiate({ first });
}
