/**
 * Starts instances of the core. `react-native/core.ts` replaces this file where WebAssembly is missing, `slim/core.ts`
 * in `hedgerow/slim`.
 */
import { MODULE_BASE64 } from './generated/module.js';
import type { Core } from './guard.js';
import { instances } from './instances.js';
import { unpack } from './unpack.js';

/** A new instance, with a memory of its own. */
export const instantiate = instances<Core>(() => unpack(MODULE_BASE64));
