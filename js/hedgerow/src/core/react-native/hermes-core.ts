/**
 * Starts instances of the core without WebAssembly: `scripts/lib/plain.mjs` turns the same Rust into
 * plain JavaScript.
 */
import { HedgerowError } from '../../base/errors.js';
import { start } from '../generated/plain.js';
import type { Core } from '../trap-guard.js';

/** Starts an instance with its own memory. */
export async function instantiate(): Promise<Core> {
  try {
    return start() as Core;
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw new HedgerowError('out-of-memory', 'there is no memory for the core', { cause });
  }
}
