/** Starts instances of the core. `react-native/core.ts` replaces this file where WebAssembly is missing. */
import { MODULE_BASE64 } from './generated/module.js';
import type { Core } from './guard.js';
import { instances } from './instances.js';

/** A new instance, with a memory of its own. */
export const instantiate = instances<Core>(MODULE_BASE64);
