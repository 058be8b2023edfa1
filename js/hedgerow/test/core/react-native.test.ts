/** Replacements for the platform where WebAssembly and most other interfaces are missing. */
import { describe, expect, it } from 'vitest';
import { idb } from '../../src/core/react-native/hermes-no-indexeddb.js';
import { PlainDecoder, PlainEncoder } from '../../src/core/react-native/hermes-text.js';
import { ofKind } from '../support/error-kind.js';
import { forSeeds } from '../support/property.js';

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
const encoder = new TextEncoder();
const plainDecoder = new PlainDecoder();
const plainEncoder = new PlainEncoder();

describe('text', () => {
  it('is encoded as the platform does, halves of pairs too', async () => {
    await forSeeds(300, async (from, _, begin) => {
      const units = Array.from({ length: from.below(40) }, () =>
        from.pick([
          from.below(0x80),
          from.below(0x800),
          from.below(0x10000),
          0xd800 + from.below(0x800),
          0xd83e,
          0xdd94,
        ]),
      );
      begin({ units });
      const text = String.fromCharCode(...units);
      expect(plainEncoder.encode(text)).toEqual(encoder.encode(text));
      const room = from.below(60);
      const [plain, native] = [new Uint8Array(room), new Uint8Array(room)];
      expect(plainEncoder.encodeInto(text, plain)).toEqual(encoder.encodeInto(text, native));
      expect(plain).toEqual(native);
    });
  });

  it('is decoded as the platform does, whatever the bytes are', async () => {
    await forSeeds(300, async (from, _, begin) => {
      const bytes = from.pick([
        () => from.bytes(from.below(60)),
        () => encoder.encode(from.text(20)),
        () => Uint8Array.from({ length: from.below(40) }, () => 0x80 + from.below(0x80)),
        () => {
          const damaged = encoder.encode(`\ufeff${'大島🦔é'.repeat(1 + from.below(9))}`);
          damaged[from.below(damaged.length)] = from.below(256);
          return damaged.slice(0, from.below(damaged.length + 1));
        },
      ])();
      begin({ bytes });
      expect(plainDecoder.decode(bytes)).toBe(decoder.decode(bytes));
    });
  });

  it('of any length', () => {
    const text = 'a🦔é大'.repeat(20_000);
    expect(plainDecoder.decode(plainEncoder.encode(text))).toBe(text);
  });

  it('of every lead and second byte', () => {
    for (let pair = 0x8000; pair < 0x10000; pair++) {
      const bytes = Uint8Array.of(pair >> 8, pair & 0xff, 0x80, 0x80, 0x41);
      expect(plainDecoder.decode(bytes)).toBe(decoder.decode(bytes));
    }
  });
});

describe('storage', () => {
  it('is a required option', async () => {
    await expect(idb().open('x')).rejects.toMatchObject(ofKind('invalid-argument'));
    await expect(idb().destroy('x')).rejects.toMatchObject(ofKind('invalid-argument'));
  });
});
