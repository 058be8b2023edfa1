/** Starts instances of the core from a file. Replaces `core/module.ts` in `hedgerow/slim`. */
import type { Core } from '../guard.js';
import { instances } from '../instances.js';
import { compileFile } from './slim-compile.js';

/** A new instance, with a memory of its own. */
export const instantiate = instances<Core>(() =>
  // Bundlers of apps look for just this expression.
  compileFile(new URL('./hedgerow.wasm', import.meta.url)),
);
