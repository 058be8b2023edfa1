/** The wrapper unpacks chunks outside of the core: blocks made by hand, and chunks of a real store. */
import { blake3 } from '@noble/hashes/blake3.js';
import { describe, expect, it } from 'vitest';
import { hex } from '../../src/base/hex.js';
import { TABLE_HEADER_BYTES } from '../../src/base/segment-table.js';
import { unpackChunk } from '../../src/base/unpack-chunk.js';
import { memory, open } from '../../src/index.js';
import { random } from '../support/random.js';
import { storedIn } from '../support/transferring.js';

const MAX_BYTES = 65_538;
const textBytes = (text: string) => [...new TextEncoder().encode(text)];
const block = (...parts: (number | number[])[]) => Uint8Array.from(parts.flat());
const unpacked = (stored: Uint8Array, length: number) => {
  const chunk = unpackChunk(stored, length);
  return chunk && Buffer.from(chunk).toString('latin1');
};

/** Literals, a match that repeats itself, a match without literals before it, and literals again. */
const mixed = block(0x25, textBytes('ab'), 2, 0, 0x00, 11, 0, 0x30, textBytes('end'));
const MIXED = 'abababababaababend';

describe('a block', () => {
  it('may have only literals', () => {
    expect(unpacked(block(0x50, textBytes('hedge')), 5)).toBe('hedge');
    expect(unpacked(block(0), 0)).toBe('');
  });

  it('may repeat its own output, also within a match', () => {
    expect(unpacked(block(0x40, textBytes('abcd'), 4, 0, 0x10, 33), 9)).toBe('abcdabcd!');
    expect(unpacked(block(0x1f, 97, 1, 0, 5, 0x10, 98), 26)).toBe(`${'a'.repeat(25)}b`);
    expect(unpacked(block(0x34, textBytes('xyz'), 3, 0, 0), 11)).toBe('xyzxyzxyzxy');
    // The token after a match may have no literals, but the token must exist.
    expect(unpacked(block(0x34, textBytes('xyz'), 3, 0), 11)).toBeUndefined();
  });

  it('may have a match at the largest offset', () => {
    const far = [...random(5).bytes(65_534)];
    // 15 + 256 * 255 + 239 literals.
    const literals = [0xf0, ...Array(256).fill(255), 239, ...far];
    const stored = block(literals, 0xfe, 0xff, 0);
    expect(unpackChunk(stored, MAX_BYTES)).toEqual(Uint8Array.from([...far, ...far.slice(0, 4)]));
  });

  it('may have lengths of several bytes', () => {
    for (const more of [0, 1, 254, 255, 256, 509, 510, 511, 65_000]) {
      const rest = [...Array(Math.floor(more / 255)).fill(255), more % 255];
      const literals = Array(15 + more).fill(120);
      expect(unpacked(block(0xf0, rest, literals), 15 + more)).toBe('x'.repeat(15 + more));
      const match = block(0x1f, 121, 1, 0, rest, 0);
      expect(unpacked(match, 20 + more), String(more)).toBe('y'.repeat(20 + more));
    }
  });
});

describe('a malformed block', () => {
  it('is refused wherever it is cut off, and with an extra byte', () => {
    // 15 + 255 + 1 literals, a match of 4, a literal, a match of 4 + 15 + 255, and a literal.
    const long = block(0xf0, 255, 1, Array(271).fill(1), 1, 0, 0x1f, 2, 7, 0, 255, 0, 0x10, 9);
    for (const [stored, length] of [
      [mixed, MIXED.length],
      [long, 271 + 4 + 1 + 274 + 1],
    ] as const) {
      expect(unpackChunk(stored, length)).toHaveLength(length);
      for (let end = 0; end < stored.length; end++) {
        expect(unpackChunk(stored.subarray(0, end), length), `cut off at ${end}`).toBeUndefined();
      }
      expect(unpackChunk(block([...stored], 0), length)).toBeUndefined();
    }
  });

  it('is refused with an offset of zero, or an offset before the start', () => {
    const at = (low: number, high: number) => block(0x40, textBytes('abcd'), low, high, 0x10, 33);
    expect(unpacked(at(4, 0), 9)).toBe('abcdabcd!');
    for (const [low, high] of [
      [0, 0],
      [5, 0],
      [4, 1],
      [255, 255],
    ] as const) {
      expect(unpackChunk(at(low, high), 9), `${low} ${high}`).toBeUndefined();
    }
    expect(unpackChunk(block(0x00, 1, 0, 0), 4)).toBeUndefined();
  });

  it('is refused with a wrong length', () => {
    expect(unpacked(mixed, MIXED.length)).toBe(MIXED);
    for (let length = 0; length < 100; length++) {
      if (length !== MIXED.length) expect(unpackChunk(mixed, length), `${length}`).toBeUndefined();
    }
    for (const length of [-1, 0.5, MAX_BYTES + 1, 2 ** 32 - 1, Number.NaN, Infinity]) {
      expect(unpackChunk(mixed, length), `${length}`).toBeUndefined();
    }
    // A match is too long by one, through a length that would overflow.
    expect(
      unpackChunk(block(0x1f, 97, 1, 0, Array(999).fill(255), 0, 0), MAX_BYTES),
    ).toBeUndefined();
  });

  it('of random bytes does no harm', () => {
    const from = random(3);
    for (let round = 0; round < 20_000; round++) {
      const stored = Uint8Array.from(mixed);
      stored[from.below(stored.length)] = from.below(256);
      stored[from.below(stored.length)] = from.below(256);
      const chunk = unpackChunk(stored, MIXED.length);
      if (chunk !== undefined) expect(chunk).toHaveLength(MIXED.length);
      unpackChunk(from.bytes(from.below(40)), from.below(300));
    }
  });
});

describe('a store', () => {
  it('has packed chunks that unpack to bytes with the right hashes', async () => {
    const storage = memory();
    const db = await open('app', { storage });
    const row = (n: number) => ({ title: `Gate ${n}`, state: n % 3 ? 'open' : 'done', n });
    await db.putMany(Array.from({ length: 3000 }, (_, n) => [`issue/${n}`, row(n)] as const));
    await db.put('large', 'a value that repeats '.repeat(20_000));
    await db.close();
    const { tables, segments } = await storedIn(storage, 'app');
    let [packed, leaves] = [0, 0];
    for (const [nth, { tableBytes }] of tables.entries()) {
      const view = new DataView(tableBytes.buffer, tableBytes.byteOffset, tableBytes.length);
      const count = view.getUint32(8, true);
      for (let index = 0, from = 0; index < count; index++) {
        const hashAt = TABLE_HEADER_BYTES + 32 * index;
        const ends = TABLE_HEADER_BYTES + 32 * count;
        const to = view.getUint32(ends + 4 * index, true);
        const length = view.getUint32(ends + 4 * count + 4 * index, true);
        const stored = (segments[nth] as Uint8Array).subarray(from, to);
        const chunk = length > stored.length ? unpackChunk(stored, length) : stored;
        if (length > stored.length) packed++;
        if (chunk?.[0] === 0) leaves++;
        expect(chunk).toHaveLength(length);
        const hash = hex(tableBytes.subarray(hashAt, hashAt + 32));
        expect(hex(blake3(chunk as Uint8Array))).toBe(hash);
        from = to;
      }
    }
    expect(leaves).toBeGreaterThan(5);
    expect(packed).toBeGreaterThan(leaves);
  });
});
