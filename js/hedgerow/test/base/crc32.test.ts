/** The checksum of exports and remote objects equals its published check value and a bit-by-bit computation. */
import { expect, it } from 'vitest';
import { crc32 } from '../../src/base/crc32.js';
import { random } from '../support/random.js';

/** Computes the checksum by its definition: one bit at a time, without a table. */
function slow(bytes: Uint8Array): number {
  let crc = 0xffff_ffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb8_8320 : 0);
  }
  return ~crc >>> 0;
}

it('the checksum has the check value of its catalogue', () => {
  expect(crc32(new TextEncoder().encode('123456789'))).toBe(0xcbf4_3926);
  expect(crc32()).toBe(0);
});

it('the checksum of given bytes does not depend on their parts or their offset', () => {
  const from = random(1);
  for (let length = 0; length < 200; length++) {
    const all = from.bytes(length + 3);
    const bytes = all.subarray(from.below(4), length);
    const [first, second] = [from.below(bytes.length + 1), from.below(bytes.length + 1)].sort(
      (a, b) => a - b,
    ) as [number, number];
    const parts = [bytes.subarray(0, first), bytes.subarray(first, second), bytes.subarray(second)];
    expect(crc32(...parts)).toBe(slow(bytes));
  }
});
