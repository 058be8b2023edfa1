/**
 * Guards the calls to an instance of the core. After a trap its memory is not reliable, so the first exception ends its
 * use.
 */
import { HedgerowError } from '../base/errors.js';
import type { InitOutput } from './generated/exports.js';

/** The exports of an instance. */
export type Core = InitOutput & {
  /** 1 after a trap for lack of memory; added by `scripts/lib/panics.mjs`. */
  readonly out_of_memory: WebAssembly.Global;
};

type Call = (a: unknown, b: unknown, c: unknown, d: unknown, e: unknown) => unknown;

/** Wraps exports: an exception becomes a typed error, which goes to `onTrap` and is then thrown. */
export function guard(core: Core, onTrap: (error: HedgerowError) => void): Core {
  const wrapCall =
    (call: Call): Call =>
    (a, b, c, d, e) => {
      try {
        return call(a, b, c, d, e);
      } catch (cause) {
        const error = errorOf(core, cause);
        onTrap(error);
        throw error;
      }
    };
  const calls = Object.entries(core)
    .filter(([, member]) => typeof member === 'function')
    .map(([name, call]) => [name, wrapCall(call as Call)]);
  return { ...Object.fromEntries(calls), memory: core.memory } as Core;
}

function errorOf(core: Core, cause: unknown): HedgerowError {
  const error =
    core.out_of_memory.value === 1
      ? new HedgerowError('out-of-memory', 'the core has no memory left', { cause })
      : new HedgerowError('unavailable/crashed', 'the core has crashed', { cause });
  // Read the stacks now. Engines that format a stack lazily keep its frames until then, and with them the instance and
  // its memory, as long as a reference to the error exists.
  for (const { stack } of [error, cause as Error]) void stack;
  return error;
}
