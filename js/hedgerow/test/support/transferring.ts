/** Helpers for tests of exports and imports. */
import { expect } from 'vitest';
import type { ExportOptions } from '../../src/engine/transfer/export-options.js';
import { memory, open, type Storage, type Store } from '../../src/index.js';
import { all, type Entry, expectSame } from './models/store-model.js';
import type { Random } from './random.js';

/** Joins the bytes of parts. */
export function joined(parts: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts));
}

/** Returns an export as one array of bytes. */
export async function exported(db: Store, options: ExportOptions = {}): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const part of await db.backup.export(options)) parts.push(new Uint8Array(part));
  return joined(parts);
}

/** Yields the bytes in parts of any length, also empty ones, with a turn between some of them. */
export async function* inParts(
  bytes: Uint8Array,
  from: Random,
  most = 100_000,
): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; ) {
    const length = from.below(from.pick([1, 50, most]) + 1);
    yield bytes.slice(at, at + length);
    at += length;
    if (from.next() < 0.1) await new Promise((resolve) => setTimeout(resolve));
  }
}

/** Expects that a failed import has left no data that a handle sees. */
export async function expectEmpty(storage: Storage, name = 'copy', message = ''): Promise<void> {
  const db = await open(name, { storage });
  expect(db.root, message).toBe('0'.repeat(64));
  expect(await db.branches.list(), message).toHaveLength(1);
  expect(await db.count(), message).toBe(0);
  await db.close();
}

/** Expects that the store `copy` has the rows and root of `db`, is sound, and takes writes. */
export async function expectCopy(db: Store, storage: Storage, name = 'copy'): Promise<void> {
  const copy = await open(name, { storage });
  expect(copy.root).toBe(db.root);
  expectSame(await all(copy), await all(db));
  const found = await copy.health.verify();
  expect([found.ok, found.segmentFaults]).toEqual([true, []]);
  await copy.put('works', 1);
  expect(await copy.get('works')).toBe(1);
  await copy.delete('works');
  expect(copy.root).toBe(db.root);
  await copy.close();
}

/** Returns the stored segments with their bytes, and the refs by name. */
export async function storedIn(storage: Storage, name = 'copy') {
  const store = await storage.open(name);
  const { tables, refs } = await store.load();
  const ids = tables.map(({ id }) => id);
  const segments = (await store.read(ids)).map((bytes) => bytes ?? new Uint8Array());
  await store.close();
  return { ids, tables, segments, refs: new Map(refs.map((ref) => [ref.name, ref])) };
}

/** Returns rows of about `bytes` bytes that do not compress. */
export function rowsOf(from: Random, bytes: number, length = 3000): Entry[] {
  return Array.from({ length: Math.ceil(bytes / length) }, (_, at): Entry => {
    return [`row/${String(at).padStart(6, '0')}`, from.bytes(length)];
  });
}

/** Opens a store of several segments. */
export async function largeStore(from: Random, bytes = 4 << 20): Promise<Store> {
  const db = await open('large', { storage: memory() });
  await db.putMany(rowsOf(from, bytes));
  return db;
}
