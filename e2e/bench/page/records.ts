/**
 * Measures the cost of a record of raw IndexedDB, by its size and kind, without Hedgerow: the size of segments follows
 * from it.
 */
import { inTransaction, openIndexedDb, settled } from './peers/raw.js';
import { random } from './random.js';

export interface RecordSetting {
  readonly kind: 'bytes' | 'Blob';
  /** Bytes of a record, and of all together. */
  readonly size: number;
  readonly total: number;
}

/**
 * Milliseconds: to write all in one relaxed transaction; to read one, a part of one, and each of parts read at once.
 * For a Blob that was read before: the call of `slice` alone, a part with it, and all.
 */
export interface RecordTimes {
  readonly write: number;
  readonly read: number;
  readonly part: number;
  readonly parts: number;
  readonly slice?: number;
  readonly keptPart?: number;
  readonly keptWhole?: number;
}

const READS = 40;
const PARTS_AT_ONCE = 200;
const PART = 4096;

/** Bytes that do not compress. */
function noise(size: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(size);
  for (let at = 0; at < size; at += 65_536) crypto.getRandomValues(bytes.subarray(at, at + 65_536));
  return bytes;
}

async function timed(run: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now();
  await run();
  return performance.now() - startMs;
}

/** Writes and reads records of one kind and size, and deletes them. */
export async function recordTimes({ kind, size, total }: RecordSetting): Promise<RecordTimes> {
  const db = await openIndexedDb();
  const count = total / size;
  const values = Array.from({ length: count }, () => noise(size));
  try {
    const write = await timed(() =>
      inTransaction(db, 'blocks', 'relaxed', (store) => {
        for (const [at, bytes] of values.entries()) {
          store.put(kind === 'Blob' ? new Blob([bytes]) : bytes, at);
        }
      }),
    );
    const next = random(size);
    const below = (limit: number) => Math.floor(next() * limit);
    const get = (at: number) =>
      settled(db.transaction('blocks').objectStore('blocks').get(at)) as Promise<Blob | Uint8Array>;
    const whole = async (value: Blob | Uint8Array) =>
      value instanceof Blob ? (await value.arrayBuffer()).byteLength : value.byteLength;
    const part = async () => {
      const value = await get(below(count));
      const at = below(Math.max(1, size - PART));
      const cut = value instanceof Blob ? value.slice(at, at + PART) : value.slice(at, at + PART);
      await whole(cut);
    };
    const each = async (run: () => Promise<unknown>) => {
      for (let at = 0; at < READS; at++) await run();
    };
    const read = await timed(() => each(async () => whole(await get(below(count)))));
    const one = await timed(() => each(part));
    const parts = await timed(() => Promise.all(Array.from({ length: PARTS_AT_ONCE }, part)));
    const times = { write, read: read / READS, part: one / READS, parts: parts / PARTS_AT_ONCE };
    return kind === 'Blob' ? { ...times, ...(await keptTimes((await get(0)) as Blob)) } : times;
  } finally {
    await inTransaction(db, 'blocks', 'relaxed', (store) => store.clear()).catch(() => {});
    db.close();
  }
}

/** Measures reads of a Blob that was read before. */
async function keptTimes(blob: Blob): Promise<Partial<RecordTimes>> {
  await blob.arrayBuffer();
  let [slice, keptPart, keptWhole] = [0, 0, 0];
  for (let round = 0; round < READS; round++) {
    keptPart += await timed(async () => {
      let part = blob;
      slice += await timed(async () => {
        part = blob.slice(PART, 2 * PART);
      });
      await part.arrayBuffer();
    });
    keptWhole += await timed(() => blob.arrayBuffer());
  }
  return { slice: slice / READS, keptPart: keptPart / READS, keptWhole: keptWhole / READS };
}

const COMMITS = 100;

/** Measures a transaction with one record of each of these sizes, in median milliseconds; the sizes take turns. */
export async function commitTimes(
  sizes: readonly number[],
  durability: 'relaxed' | 'strict',
): Promise<number[]> {
  const db = await openIndexedDb();
  const values = sizes.map(noise);
  const samples = sizes.map((): number[] => []);
  try {
    for (let at = 0; at < COMMITS; at++) {
      for (const [index, bytes] of values.entries()) {
        const ms = await timed(() =>
          inTransaction(db, 'blocks', durability, (store) => void store.put(bytes, at)),
        );
        samples[index]?.push(ms);
      }
    }
    return samples.map((all) => all.sort((a, b) => a - b)[COMMITS >> 1] as number);
  } finally {
    await inTransaction(db, 'blocks', 'relaxed', (store) => store.clear()).catch(() => {});
    db.close();
  }
}
