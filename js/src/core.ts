/** Starts instances of the core. `react-native/core.ts` stands in for it where there is no WebAssembly. */
import { HedgerowError } from './errors.js';
import { MODULE_BASE64 } from './generated/module.js';
import type { Core } from './guard.js';

let compiled: Promise<WebAssembly.Module> | undefined;

async function compile(): Promise<WebAssembly.Module> {
  const packed = Uint8Array.from(atob(MODULE_BASE64), (char) => char.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  return WebAssembly.compile(await new Response(stream).arrayBuffer());
}

/** A new instance, with a memory of its own. */
export async function instantiate(): Promise<Core> {
  compiled ??= compile();
  try {
    const instance = await WebAssembly.instantiate(await compiled, {
      // wasm-bindgen's table of JavaScript values, which this module never uses.
      './hedgerow_bg.js': { __wbindgen_init_externref_table: () => {} },
    });
    return instance.exports as unknown as Core;
  } catch (cause) {
    compiled = undefined;
    if (!(cause instanceof RangeError)) throw cause;
    throw new HedgerowError('out-of-memory', 'there is no memory for the core', { cause });
  }
}
