/** Unpacks modules from text, compiles them once, and instantiates them. */
import { HedgerowError } from '../base/errors.js';
import { part } from '../base/parts.js';

/** Decodes base64. Every start runs it, so it avoids a callback for each byte. */
export function bytesOfBase64(base64: string): Uint8Array<ArrayBuffer> {
  const { fromBase64 } = Uint8Array as { fromBase64?: (text: string) => Uint8Array<ArrayBuffer> };
  if (fromBase64 !== undefined) return fromBase64.call(Uint8Array, base64);
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < bytes.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes;
}

async function compile(base64: string): Promise<WebAssembly.Module> {
  // A `Response` rather than a `Blob`: that of jsdom has no stream.
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

/** Returns a function that makes instances of a module (raw DEFLATE in base64). Its first call compiles. */
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
