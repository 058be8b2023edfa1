/** The objects of collections: readers accept only the bytes that writers make. */
import { describe, expect, it } from 'vitest';
import { hex } from '../../../src/base/hex.js';
import { HedgerowError } from '../../../src/index.js';
import { MAX_MARK_NAMES, MAX_MARKS } from '../../../src/sync/remote/format/format-limits.js';
import {
  decodeMark,
  decodeRecord,
  encodeMark,
  encodeRecord,
  type MarkNames,
  type MarkRecords,
} from '../../../src/sync/remote/format/garbage-marks.js';
import { forCuts, forFlips } from '../../support/damaged-bytes.js';
import { kindOf } from '../../support/error-kind.js';
import { forSeeds } from '../../support/property.js';
import { type Random, random } from '../../support/random.js';
import { resealed } from '../../support/remote-samples.js';
import { SUITES } from '../../support/remote-scopes.js';

const names = (from: Random, count: number) =>
  Array.from({ length: count }, () => from.bytes(32)).sort((a, b) => (hex(a) < hex(b) ? -1 : 1));

function recordOf(from: Random): MarkRecords {
  const marks = Array.from({ length: from.below(MAX_MARKS + 1) }, () => ({
    nameBytes: from.bytes(32),
    length: 1 + from.below(100_000),
    stamp: from.below(2) === 0 ? undefined : 1 + from.below(2 ** 40),
  }));
  return { collected: from.below(2 ** 40), marks };
}

function markOf(from: Random): MarkNames {
  return { p: names(from, from.below(20)), d: names(from, 1 + from.below(20)) };
}

async function codeOf(call: () => Promise<unknown>): Promise<string> {
  try {
    await call();
    return 'none';
  } catch (cause) {
    if (cause instanceof HedgerowError) return kindOf(cause);
    throw cause;
  }
}

describe.each(SUITES)('in a remote %s', (_, scope) => {
  it('records and marks come back as they were written', () =>
    forSeeds(200, async (from) => {
      const [record, mark, salt] = [recordOf(from), markOf(from), from.bytes(16)];
      const recordBytes = await encodeRecord(record, salt, scope);
      expect(await decodeRecord(recordBytes, scope)).toEqual({ ...record, nonceBytes: salt });
      const markBytes = await encodeMark(mark, salt, scope);
      expect(await decodeMark(markBytes, scope)).toEqual(mark);
      // One is not the other.
      expect(await codeOf(() => decodeMark(recordBytes, scope))).toBe('remote/data');
      expect(await codeOf(() => decodeRecord(markBytes, scope))).toBe('remote/data');
    }));

  it('each flipped bit, and each cut, is refused', async () => {
    const from = random(5);
    const cases = [
      [await encodeRecord(recordOf(random(11)), from.bytes(16), scope), decodeRecord],
      [await encodeMark(markOf(random(3)), from.bytes(16), scope), decodeMark],
    ] as const;
    for (const [bytes, decode] of cases) {
      await forFlips(bytes, async (flipped) => {
        const code = await codeOf(() => decode(flipped, scope));
        expect(['remote/data', 'newer-version/format', 'wrong-key']).toContain(code);
      });
      await forCuts(bytes, async (cut) => {
        expect(await codeOf(() => decode(cut, scope))).toBe('remote/data');
      });
    }
  });
});

it('bytes that no writer makes are refused, though their checksum is right', async () => {
  const [[, plain] = []] = SUITES;
  if (plain === undefined) throw new Error('there is no plain suite');
  const from = random(7);
  const nameBytes = from.bytes(32);
  const mark = { nameBytes, length: 9, stamp: 5 };
  const record = await encodeRecord({ collected: 1, marks: [mark] }, from.bytes(16), plain);
  const many = await encodeMark({ p: [nameBytes], d: [] }, from.bytes(16), plain);
  const altered = (bytes: Uint8Array, at: number, value: number[]) => {
    const copy = bytes.slice();
    copy.set(value, at);
    return resealed(copy);
  };
  const BODY = 24;
  const refused = [
    // More marks than a record may have, or than there are; a name of zeros; no length; one byte too many.
    () => decodeRecord(altered(record, BODY + 8, [9, 0]), plain),
    () => decodeRecord(altered(record, BODY + 8, [2, 0]), plain),
    () => decodeRecord(altered(record, BODY + 8, [0, 0]), plain),
    () => decodeRecord(altered(record, BODY + 10, Array(32).fill(0)), plain),
    () => decodeRecord(altered(record, BODY + 42, [0, 0, 0, 0]), plain),
    () => decodeMark(altered(many, BODY, [2, 0, 0, 0]), plain),
    () => decodeMark(altered(many, BODY, [255, 255, 255, 255]), plain),
    () => decodeMark(altered(many, BODY + 4, Array(32).fill(0)), plain),
  ];
  for (const call of refused) expect(await codeOf(call)).toBe('remote/data');
  const full = { collected: 1, marks: Array(MAX_MARKS + 1).fill(mark) };
  const unwritable = [
    () => encodeRecord(full, from.bytes(16), plain),
    () => encodeMark({ p: [], d: [] }, from.bytes(16), plain),
    () => encodeMark({ p: Array(MAX_MARK_NAMES + 1).fill(nameBytes), d: [] }, nameBytes, plain),
    () => encodeMark({ p: [from.bytes(31)], d: [] }, from.bytes(16), plain),
    () => encodeMark({ p: [nameBytes, nameBytes], d: [] }, from.bytes(16), plain),
  ];
  for (const call of unwritable) expect(await codeOf(call)).toBe('invalid-argument');
});
