/** A store of many segments: most of its tables enter the core only after the first reads. */
import { memory, open } from '../../src/index.js';
import type { Storage } from '../../src/storage/segment-store.js';
import { noise } from '../support/noise.js';

/** The rows fill more segments than there are tables that enter the core at once. */
export const ROWS = 60_000;
export const NAME = 'shelf';

export type Row = { at: number; text: string };
export const keyOf = (at: number) => `row/${String(at).padStart(6, '0')}`;
export const ALL = Array.from({ length: ROWS }, (_, at): [string, Row] => [
  keyOf(at),
  { at, text: noise(at, 480) },
]);
/** Rows in no order: each is in another leaf, and many are in segments of their own. */
export const SOME = Array.from(
  { length: 300 },
  (_, nth) => ALL[(nth * 7919) % ROWS] as [string, Row],
);

export const filled = memory();

/** Puts all rows into `filled`. */
export async function fill(): Promise<void> {
  const db = await open(NAME, { storage: filled });
  await db.putMany(ALL);
  await db.close();
}

/** Returns the same store in memory of its own. */
export async function copied(): Promise<Storage> {
  const copy = memory();
  const [from, to] = await Promise.all([filled.open(NAME), copy.open(NAME)]);
  const { tables, refs } = await from.load();
  const bytes = await from.read(tables.map(({ id }) => id));
  const segments = tables.map(({ id, tableBytes }, at) => ({
    id,
    tableBytes,
    segmentBytes: bytes[at] as Uint8Array,
  }));
  const also = refs.map((ref) => ({ ...ref, expected: 0 }));
  // Ids of existing segments are not used again.
  for (let nth = 0; nth < 2; nth++) await to.reserve();
  await to.write({ segments, also, durability: 'relaxed' });
  await Promise.all([from.close(), to.close()]);
  return copy;
}
