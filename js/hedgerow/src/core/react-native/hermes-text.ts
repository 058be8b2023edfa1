/**
 * Encodes and decodes UTF-8 for versions of Hermes that cannot. Uses the native classes of newer versions, but no
 * polyfill of the app: few polyfills have `encodeInto`.
 */

/** The part of the standard that Hedgerow uses. */
interface Encoder {
  encode(text: string): Uint8Array;
  encodeInto(text: string, to: Uint8Array): { read: number; written: number };
}

interface Decoder {
  decode(bytes: Uint8Array): string;
}

class PlainEncoder implements Encoder {
  encode(text: string): Uint8Array {
    const bytes = new Uint8Array(text.length * 3);
    return bytes.slice(0, this.encodeInto(text, bytes).written);
  }

  encodeInto(text: string, to: Uint8Array): { read: number; written: number } {
    const { length } = text;
    const capacity = to.length;
    let at = 0;
    let read = 0;
    while (read < length) {
      let unit = text.charCodeAt(read);
      if (unit < 0x80) {
        if (at === capacity) break;
        to[at++] = unit;
      } else if (unit < 0x800) {
        if (at + 2 > capacity) break;
        to[at++] = 0xc0 | (unit >> 6);
        to[at++] = 0x80 | (unit & 0x3f);
      } else {
        const low = (unit & 0xfc00) === 0xd800 ? text.charCodeAt(read + 1) : 0;
        if ((low & 0xfc00) === 0xdc00) {
          if (at + 4 > capacity) break;
          const point = 0x10000 + ((unit & 0x3ff) << 10) + (low & 0x3ff);
          to[at++] = 0xf0 | (point >> 18);
          to[at++] = 0x80 | ((point >> 12) & 0x3f);
          to[at++] = 0x80 | ((point >> 6) & 0x3f);
          to[at++] = 0x80 | (point & 0x3f);
          read += 1;
        } else {
          if (at + 3 > capacity) break;
          if ((unit & 0xf800) === 0xd800) unit = 0xfffd; // half of a pair
          to[at++] = 0xe0 | (unit >> 12);
          to[at++] = 0x80 | ((unit >> 6) & 0x3f);
          to[at++] = 0x80 | (unit & 0x3f);
        }
      }
      read += 1;
    }
    return { read, written: at };
  }
}

/** The number of arguments of one call: engines refuse tens of thousands. */
const UNITS = 4096;

/** The number of bytes after the first of a sequence, by its upper five bits minus 0b11000. */
const FOLLOWING = [1, 1, 1, 1, 2, 2, 3] as const;
/** The least code point for each number of following bytes. */
const LEAST = [0, 0x80, 0x800, 0x10000] as const;

class PlainDecoder implements Decoder {
  decode(bytes: Uint8Array): string {
    const { length } = bytes;
    const parts: string[] = [];
    const units: number[] = [];
    let at = 0;
    while (at < length) {
      const first = bytes[at++]!;
      if (first < 0x80) units.push(first);
      else {
        const following = first < 0xc2 ? undefined : FOLLOWING[(first >> 3) - 24];
        at =
          following === undefined ? bad(units, at) : sequence(bytes, at, first, following, units);
      }
      if (units.length < UNITS) continue;
      parts.push(String.fromCharCode.apply(null, units));
      units.length = 0;
    }
    parts.push(String.fromCharCode.apply(null, units));
    return parts.join('');
  }
}

function bad(units: number[], at: number): number {
  units.push(0xfffd);
  return at;
}

/** Reads the rest of a sequence after its first byte; returns the offset of the next sequence. */
function sequence(
  bytes: Uint8Array,
  start: number,
  first: number,
  following: number,
  units: number[],
): number {
  let point = first & (0x3f >> following);
  let at = start;
  for (let left = following - 1; left >= 0; left--) {
    const byte = bytes[at] ?? 0;
    // The longest prefix that could start a valid sequence is one fault, as the standard demands.
    if ((byte & 0xc0) !== 0x80) return bad(units, at);
    point = (point << 6) | (byte & 0x3f);
    const least = point << (6 * left);
    const most = least + 2 ** (6 * left) - 1;
    const isSurrogate = least >= 0xd800 && most <= 0xdfff;
    if (most < LEAST[following]! || least > 0x10ffff || isSurrogate) return bad(units, at);
    at += 1;
  }
  if (point < 0x10000) units.push(point);
  else units.push(0xd7c0 + (point >> 10), 0xdc00 + (point & 0x3ff));
  return at;
}

/** Returns a class of the engine itself; `undefined` if it is missing, or a polyfill. */
function native<T>(name: string, member: string): T | undefined {
  const found = (globalThis as Record<string, unknown>)[name];
  if (typeof found !== 'function' || !(member in found.prototype)) return undefined;
  return String(found).includes('[native code]') ? (found as T) : undefined;
}

export const TextEncoder = native<new () => Encoder>('TextEncoder', 'encodeInto') ?? PlainEncoder;

export const TextDecoder =
  native<new (label?: string, options?: { ignoreBOM?: boolean }) => Decoder>(
    'TextDecoder',
    'decode',
  ) ?? PlainDecoder;

/** Exported for tests, which run where the native classes exist. */
export { PlainDecoder, PlainEncoder };
