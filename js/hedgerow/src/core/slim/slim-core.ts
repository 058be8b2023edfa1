/** Starts instances of the core from a file. Replaces `core/module.ts` in `hedgerow/slim`. */
import type { Core } from '../guard.js';
import { instances } from '../instances.js';
import { compileFile } from './slim-compile.js';

/** Starts an instance with its own memory. */
export const instantiate = instances<Core>(() =>
  // Bundlers of apps look for exactly this expression.
  compileFile(new URL('./hedgerow.wasm', import.meta.url)),
);
