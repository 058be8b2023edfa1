/** Unpacks a module from text, and compiles it. */

/** Decodes base64. Every start runs it, so it avoids a callback for each byte. */
export function bytesOfBase64(base64: string): Uint8Array<ArrayBuffer> {
  const { fromBase64 } = Uint8Array as { fromBase64?: (text: string) => Uint8Array<ArrayBuffer> };
  if (fromBase64 !== undefined) return fromBase64.call(Uint8Array, base64);
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < bytes.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes;
}

/** Compiles a module: raw DEFLATE in base64. */
export async function compilePackedModule(base64: string): Promise<WebAssembly.Module> {
  // Use a `Response`, not a `Blob`: the `Blob` of jsdom has no stream.
  const packed = new Response(bytesOfBase64(base64)).body;
  const stream = packed?.pipeThrough(new DecompressionStream('deflate-raw'));
  return WebAssembly.compile(await new Response(stream).arrayBuffer());
}
