/**
 * Stands between the wrapper and an instance of the core. After a trap nothing in the memory of
 * an instance can be trusted: the first exception is the last thing that is heard of it.
 */
import { HedgerowError } from '../base/errors.js';
import type { InitOutput } from './generated/exports.js';

/** What an instance exports. */
export type Core = InitOutput & {
  /** 1 when it trapped for want of memory; added by `scripts/lib/panics.mjs`. */
  readonly out_of_memory: WebAssembly.Global;
};

type Call = (a: unknown, b: unknown, c: unknown, d: unknown, e: unknown) => unknown;

/** Exports that turn an exception into a typed error, and tell `onTrap` of it before. */
export function guard(core: Core, onTrap: (error: HedgerowError) => void): Core {
  return withCalls(core, core.memory, (call) => (a, b, c, d, e) => {
    try {
      return call(a, b, c, d, e);
    } catch (cause) {
      const error = errorOf(core, cause);
      onTrap(error);
      throw error;
    }
  });
}

/** Exports of nothing: each call, and each look at memory, throws what `refusal` makes. */
export function refuse(core: Core, refusal: () => HedgerowError): Core {
  const memory = {
    get buffer(): ArrayBuffer {
      throw refusal();
    },
  };
  return withCalls(core, memory, () => () => {
    throw refusal();
  });
}

function withCalls(core: Core, memory: { buffer: ArrayBuffer }, wrap: (call: Call) => Call): Core {
  const members = Object.entries(core)
    .filter(([, member]) => typeof member === 'function')
    .map(([name, call]) => [name, wrap(call as Call)]);
  return { ...Object.fromEntries(members), memory } as Core;
}

function errorOf(core: Core, cause: unknown): HedgerowError {
  const error =
    core.out_of_memory.value === 1
      ? new HedgerowError('out-of-memory', 'the core has no memory left', { cause })
      : new HedgerowError('crashed', 'the core has crashed', { cause });
  // Engines that write a stack only when it is asked for hold the frames until then, and by
  // them the instance with all its memory, for as long as somebody keeps the error.
  for (const { stack } of [error, cause as Error]) void stack;
  return error;
}
