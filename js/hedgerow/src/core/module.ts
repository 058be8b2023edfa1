/**
 * Starts instances of the core. `react-native/hermes-core.ts` replaces this file where WebAssembly is missing,
 * `slim/slim-core.ts` in `hedgerow/slim`.
 */
import { MODULE_BASE64 } from './generated/module.js';
import type { Core } from './guard.js';
import { instances } from './instances.js';
import { compilePackedModule } from './unpack.js';

/** Starts an instance with its own memory. */
export const instantiate = instances<Core>(() => compilePackedModule(MODULE_BASE64));
