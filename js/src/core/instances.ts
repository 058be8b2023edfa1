/** Modules that come as text: how they are unpacked, compiled once, and instantiated. */
import { HedgerowError } from '../base/errors.js';
import { part } from '../base/parts.js';

/** Bytes of base64. It is on the way of every start: nothing is called for each of them. */
export function bytesOfBase64(base64: string): Uint8Array<ArrayBuffer> {
  const { fromBase64 } = Uint8Array as { fromBase64?: (text: string) => Uint8Array<ArrayBuffer> };
  if (fromBase64 !== undefined) return fromBase64.call(Uint8Array, base64);
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < bytes.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes;
}

async function compile(base64: string): Promise<WebAssembly.Module> {
  // By a response, since the `Blob` of jsdom is no stream.
  const packed = new Response(bytesOfBase64(base64)).body;
  const stream = packed?.pipeThrough(new DecompressionStream('deflate-raw'));
  return WebAssembly.compile(await new Response(stream).arrayBuffer());
}

async function failureOf(cause: unknown): Promise<HedgerowError> {
  if (cause instanceof RangeError) {
    return new HedgerowError('out-of-memory', 'there is no memory for the core', { cause });
  }
  const { unsupported } = await part(() => import('../base/platform.js'));
  return unsupported(cause);
}

/** How to make instances of a module, raw DEFLATE in base64. The first call compiles it. */
export function instances<Exports>(
  base64: string,
): (imports?: WebAssembly.Imports) => Promise<Exports> {
  let compiled: Promise<WebAssembly.Module> | undefined;
  return async (imports) => {
    compiled ??= compile(base64);
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
