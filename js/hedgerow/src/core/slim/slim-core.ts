/** Starts instances of the core from a file. Replaces `core/instantiate-core.ts` in `hedgerow/slim`. */

import { instances } from '../instantiate-wasm.js';
import type { Core } from '../trap-guard.js';
import { compileFile } from './slim-compile.js';

/** Starts an instance with its own memory. */
export const instantiate = instances<Core>(() =>
  // Bundlers of apps look for exactly this expression.
  compileFile(new URL('./hedgerow.wasm', import.meta.url)),
);
