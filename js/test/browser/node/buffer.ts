/** What tests use of Node's `Buffer`. */

const encoder = new TextEncoder();
const FROM = {
  utf8: (text: string) => encoder.encode(text),
  hex: (text: string) =>
    Uint8Array.from(text.match(/../g) ?? [], (digits) => Number.parseInt(digits, 16)),
  base64: (text: string) => Uint8Array.from(atob(text), (char) => char.charCodeAt(0)),
};
const TO = {
  utf8: (bytes: Uint8Array) => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes),
  hex: (bytes: Uint8Array) =>
    Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join(''),
  base64: (bytes: Uint8Array) =>
    btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join('')),
};

type Source = number | ArrayLike<number> | ArrayBuffer;

export class Buffer extends Uint8Array<ArrayBuffer> {
  // Views of a part are made by it, too.
  constructor(...args: [source: Source, offset?: number, length?: number]) {
    super(...(args as [ArrayBuffer]));
  }

  static override from(
    source: string | ArrayLike<number> | Iterable<number>,
    encoding: unknown = 'utf8',
  ): Buffer {
    const bytes = typeof source === 'string' ? FROM[encoding as keyof typeof FROM](source) : source;
    return new Buffer(bytes as ArrayLike<number>);
  }

  static alloc(length: number): Buffer {
    return new Buffer(length);
  }

  static byteLength(text: string): number {
    return encoder.encode(text).length;
  }

  static concat(parts: readonly Uint8Array[]): Buffer {
    const all = new Buffer(parts.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const part of parts) {
      all.set(part, at);
      at += part.length;
    }
    return all;
  }

  static compare(a: Uint8Array, b: Uint8Array): number {
    const end = Math.min(a.length, b.length);
    for (let at = 0; at < end; at++) {
      const difference = a[at]! - b[at]!;
      if (difference !== 0) return Math.sign(difference);
    }
    return Math.sign(a.length - b.length);
  }

  override indexOf(wanted: unknown, from = 0): number {
    const bytes = typeof wanted === 'number' ? [wanted] : Buffer.from(wanted as string);
    for (let at = from; at + bytes.length <= this.length; at++) {
      if (bytes.every((byte, offset) => this[at + offset] === byte)) return at;
    }
    return -1;
  }

  override toString(encoding: keyof typeof TO = 'utf8'): string {
    return TO[encoding](this);
  }
}
