/** Compiles a module once, and instantiates it. */

import { part } from '../base/dynamic-import.js';
import { HedgerowError } from '../base/errors.js';

async function failureOf(cause: unknown): Promise<HedgerowError> {
  if (cause instanceof HedgerowError) return cause;
  if (cause instanceof RangeError) {
    return new HedgerowError('out-of-memory', 'there is no memory for the core', { cause });
  }
  const { buildUnsupportedError } = await part(() => import('../base/missing-features.js'));
  return buildUnsupportedError(cause);
}

/** Returns a function that makes instances of a module. Its first call compiles. */
export function instances<Exports>(
  compile: () => Promise<WebAssembly.Module>,
): (imports?: WebAssembly.Imports) => Promise<Exports> {
  let compiled: Promise<WebAssembly.Module> | undefined;
  return async (imports) => {
    compiled ??= compile();
    try {
      const module = await compiled;
      const instance = await WebAssembly.instantiate(module, imports);
      return instance.exports as Exports;
    } catch (cause) {
      compiled = undefined;
      throw await failureOf(cause);
    }
  };
}
