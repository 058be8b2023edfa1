/**
 * The part of the core that a page does not download at its start: `scripts/lib/split.mjs` cuts it
 * off. Import this file by `import()` alone, or the module is in the start's download after all.
 */
import type { LaterOutput } from './generated/exports.js';
import { LATER_BASE64 } from './generated/later-module.js';
import { instances } from './instances.js';

const instantiate = instances<LaterOutput>(LATER_BASE64);

/**
 * Starts the later part on the memory, the stack and the table of a running core, whose exports
 * these are: as they came, not those of `guard.ts`. It lives and traps with that core.
 */
export function instantiateLater(first: WebAssembly.Exports): Promise<LaterOutput> {
  return instantiate({ first });
}
