/**
 * The matrix of limits: every way to write, to every limit, and every way to read. At a limit all readers agree; one
 * above it the writer refuses by name, and the store does not change. Values of 64 MiB take seconds each, and are
 * crossed in the core: `crate/tests/limits_of_size.rs`.
 */
import { describe, expect, it } from 'vitest';
import { MAX_JSON_DEPTH, MAX_KEY_BYTES } from '../../../src/base/limits.js';
import { type HedgerowError, memory, type Store } from '../../../src/index.js';
import { kindOf } from '../../support/error-kind.js';
import { deep, sampled } from '../../support/property.js';
import {
  BASES,
  type Base,
  nested,
  READERS,
  type Row,
  rowOf,
  rowOfLength,
  storeBefore,
  WRITERS,
  type Writer,
} from './limits-matrix.js';

interface Limit {
  readonly name: string;
  readonly at: Row;
  /** One above the limit, and its refusal; without a refusal, the limit is one of form. */
  readonly above: Row;
  readonly code?: string;
}

/** The value's own object is one deep. */
const DEPTH = MAX_JSON_DEPTH - 1;

const LIMITS: readonly Limit[] = [
  {
    name: 'bytes of a key',
    at: rowOf('k'.repeat(MAX_KEY_BYTES), 1),
    above: rowOf('k'.repeat(MAX_KEY_BYTES + 1), 1),
    code: 'invalid-argument/key',
  },
  {
    name: 'bytes of a key that is not ASCII',
    at: rowOf('é'.repeat(MAX_KEY_BYTES / 2), 1),
    above: rowOf(`${'é'.repeat(MAX_KEY_BYTES / 2)}k`, 1),
    code: 'invalid-argument/key',
  },
  {
    name: 'depth of arrays',
    at: rowOf('k', nested(DEPTH, 1)),
    above: rowOf('k', nested(DEPTH + 1, 1)),
    code: 'invalid-argument/value',
  },
  {
    name: 'depth of objects',
    at: rowOf('k', nested(DEPTH, 1, false)),
    above: rowOf('k', nested(DEPTH + 1, 1, false)),
    code: 'invalid-argument/value',
  },
  {
    name: 'depth around what is empty',
    at: rowOf('k', nested(DEPTH, {})),
    above: rowOf('k', nested(DEPTH + 1, [])),
    code: 'invalid-argument/value',
  },
  { name: 'bytes of a value in a leaf', at: rowOfLength(4096), above: rowOfLength(4097) },
  { name: 'bytes of a piece', at: rowOfLength(64 << 10), above: rowOfLength((64 << 10) + 1) },
  {
    name: 'bytes of an entry of an index',
    at: rowOf('k'.repeat(511), 1),
    above: rowOf('k'.repeat(512), 1),
  },
];

let reads = 0;
let refusals = 0;

/** Writes a row, and reads it in all ways; returns the root of the store. */
async function writeAndRead(writer: Writer, base: Base, row: Row, context: string) {
  const storage = memory();
  const db = await storeBefore(base, row.key, storage);
  const before = db.root;
  await writer.write(db, row);
  for (const [reader, read] of Object.entries(READERS)) {
    expect(await read({ db, storage, row, base, before }), `${context}: ${reader}`).toBe(true);
    reads++;
  }
  const { root } = db;
  await db.close();
  return root;
}

/** Returns the error that a call rejects with. */
const failureOf = (call: Promise<unknown>) =>
  call.then(
    () => undefined,
    (cause: HedgerowError) => cause,
  );

async function expectRefusal(writer: Writer, base: Base, limit: Limit, context: string) {
  const { at, above, code } = limit;
  const db: Store = await storeBefore(base, at.key, memory());
  const { root } = db;
  const rows = await db.count();
  // The call may throw before it returns a promise.
  const error = await failureOf((async () => writer.write(db, above))());
  expect(kindOf(error), `${context}: ${error}`).toBe(writer.code ?? code);
  expect([db.root, await db.count()], context).toEqual([root, rows]);
  expect(await db.health.verify({ checkIndexes: true }), context).toMatchObject({ ok: true });
  await writer.write(db, at);
  refusals++;
  const after = db.root;
  await db.close();
  return after;
}

describe.each(LIMITS)('at the limit of $name', (limit) => {
  it.each(BASES)('all written rows are read, and no more is accepted, over %s', async (base) => {
    const roots = new Set<string>();
    const rootsAbove = new Set<string>();
    for (const writer of sampled(WRITERS, 8)) {
      const context = `${limit.name}, ${writer.name}, over ${base}`;
      roots.add(await writeAndRead(writer, base, limit.at, context));
      if (limit.code === undefined) {
        rootsAbove.add(await writeAndRead(writer, base, limit.above, `${context}, above`));
      } else roots.add(await expectRefusal(writer, base, limit, context));
    }
    // The store is the same for all ways to write.
    expect(roots.size).toBe(1);
    expect(rootsAbove.size).toBe(limit.code === undefined ? 1 : 0);
  });
});

deep('crosses all of them', () => {
  const open = LIMITS.filter(({ code }) => code === undefined).length;
  const written = WRITERS.length * BASES.length;
  expect(reads).toBe((LIMITS.length + open) * written * Object.keys(READERS).length);
  expect(refusals).toBe((LIMITS.length - open) * written);
  console.log(`${reads} reads of what is at a limit, ${refusals} refusals of what is above one`);
});
