/** Base64 (RFC 4648). */

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** The calls of newer engines: Node 20 and Hermes lack them. */
const native = Uint8Array as unknown as {
  readonly fromBase64?: (text: string) => Uint8Array<ArrayBuffer>;
  readonly prototype: { readonly toBase64?: () => string };
};

export function toBase64(bytes: Uint8Array): string {
  return native.prototype.toBase64?.call(bytes) ?? encodeBase64(bytes);
}

/** Decodes text; returns `undefined` for text that `toBase64` does not return: all bytes have one text. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    const bytes = native.fromBase64?.call(Uint8Array, text) ?? decodeBase64(text);
    return toBase64(bytes) === text ? bytes : undefined;
  } catch {
    return undefined;
  }
}

function encodeBase64(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += 3) {
    // Behind the end there are zeros.
    const bits = (bytes[at]! << 16) | (bytes[at + 1]! << 8) | bytes[at + 2]!;
    for (let shift = 18; shift >= 0; shift -= 6) text += DIGITS[(bits >> shift) & 63];
  }
  const over = text.length - Math.ceil((bytes.length * 4) / 3);
  return text.slice(0, text.length - over) + '=='.slice(0, over);
}

/** Decodes sound text, and makes some bytes of other text. */
function decodeBase64(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(Math.floor((text.replace(/=+$/, '').length * 3) / 4));
  let bits = 0;
  for (let at = 0, to = 0; at < text.length; at++) {
    bits = (bits << 6) | (DIGITS.indexOf(text[at]!) & 63);
    // Four digits have three bytes; bytes behind the end are not written.
    if (at % 4 > 0) bytes[to++] = bits >> (6 - 2 * (at % 4));
  }
  return bytes;
}
