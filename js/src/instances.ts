/** Modules that come as text: how they are unpacked, compiled once, and instantiated. */
import { HedgerowError } from './errors.js';

const CORE_IMPORTS = {
  // wasm-bindgen's table of JavaScript values, which the core never uses.
  './hedgerow_bg.js': { __wbindgen_init_externref_table: () => {} },
};

async function compile(base64: string): Promise<WebAssembly.Module> {
  const packed = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  return WebAssembly.compile(await new Response(stream).arrayBuffer());
}

/** How to make instances of a module, raw DEFLATE in base64. The first call compiles it. */
export function instances<Exports>(
  base64: string,
): (imports?: WebAssembly.Imports) => Promise<Exports> {
  let compiled: Promise<WebAssembly.Module> | undefined;
  return async (imports) => {
    compiled ??= compile(base64);
    try {
      const instance = await WebAssembly.instantiate(await compiled, imports ?? CORE_IMPORTS);
      return instance.exports as Exports;
    } catch (cause) {
      compiled = undefined;
      if (!(cause instanceof RangeError)) throw cause;
      throw new HedgerowError('out-of-memory', 'there is no memory for the core', { cause });
    }
  };
}
