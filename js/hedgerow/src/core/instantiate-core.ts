/**
 * Starts instances of the core. `react-native/hermes-core.ts` replaces this file where WebAssembly is missing,
 * `slim/slim-core.ts` in `hedgerow/slim`.
 */

import { compilePackedModule } from './compile-packed-module.js';
import { MODULE_BASE64 } from './generated/module.js';
import { instances } from './instantiate-wasm.js';
import type { Core } from './trap-guard.js';

/** Starts an instance with its own memory. */
export const instantiate = instances<Core>(() => compilePackedModule(MODULE_BASE64));
