/** The parts of the matrix of limits: rows, ways to write them, and ways to read them. */
import { isDeepStrictEqual } from 'node:util';
import {
  importStore,
  type KeyRange,
  memory,
  open,
  type PatchOperation,
  type Storage,
  type Store,
} from '../../../src/index.js';
import { verifyProof } from '../../../src/store/verify-row-proof.js';
import { all } from '../../support/models/store-model.js';
import { exported } from '../../support/transferring.js';

/** A row whose value names its key twice, with a given member `/p`. */
export interface Row {
  readonly key: string;
  readonly value: { id: string; n: { id: string }; p: unknown };
}

export function rowOf(key: string, p: unknown): Row {
  return { key, value: { id: key, n: { id: key }, p } };
}

/** Nests `p` in so many arrays or objects. */
export function nested(depth: number, p: unknown, isArray = true): unknown {
  let value = p;
  for (let at = 0; at < depth; at++) value = isArray ? [value] : { a: value };
  return value;
}

/** Returns a row whose value is a text of so many bytes. */
export function rowOfLength(length: number): Row {
  const short = JSON.stringify(rowOf('k', '').value).length;
  return rowOf('k', 'x'.repeat(length - short));
}

/** The earlier content of a store; the last has the row's key, with another value. */
export type Base = 'nothing' | 'other rows' | 'the same key';
export const BASES: readonly Base[] = ['nothing', 'other rows', 'the same key'];

export const INDEXES = { p: { path: '/p' }, id: { path: ['/n/id'] } };

/** Returns the earlier rows with other keys. */
function others(base: Base): Row[] {
  if (base === 'nothing') return [];
  return Array.from({ length: 30 }, (_, at) => rowOf(`${'az'[at % 2]}${at}`, at));
}

/** Opens a store as it is before a row of this key is written. */
export async function storeBefore(base: Base, key: string, storage: Storage): Promise<Store> {
  const db = await open('test', { storage, indexes: INDEXES });
  const rows = others(base);
  if (base === 'the same key' && Buffer.byteLength(key) <= 1024) rows.push(rowOf(key, 0));
  if (rows.length > 0) await db.putMany(rows.map(({ key: of, value }) => [of, value]));
  return db;
}

const bytes = (text: string) => new TextEncoder().encode(text);

async function* slowly<T>(item: T): AsyncGenerator<T> {
  yield await Promise.resolve(item);
}

/** JSON with spaces between all tokens, which is not in normal form. */
const spaced = (value: unknown) => JSON.stringify(value, undefined, 1).replaceAll('\n', ' ');

/** Writes by `putMany` of values whose key is at a pointer into them. */
const keyed = (value: unknown, key: string) => ({ rows: [value], options: { key } }) as const;

const patchOf = ({ key, value }: Row): PatchOperation[] => [{ op: 'put', key, value }];
const updateOf = ({ key, value: { p, ...rest } }: Row): PatchOperation[] => [
  { op: 'put', key, value: rest },
  { op: 'update', key, merge: { p } },
];
const linesOf = (patch: readonly unknown[]) =>
  bytes(patch.map((operation) => `${JSON.stringify(operation)}\n`).join(''));

export interface Writer {
  readonly name: string;
  readonly write: (db: Store, row: Row) => Promise<unknown>;
  /** The code of all refusals, where it does not distinguish the key from the value. */
  readonly code?: 'invalid-data/row' | 'invalid-data/patch';
}

/** All ways to write a row. */
export const WRITERS: readonly Writer[] = [
  { name: 'put', write: (db, { key, value }) => db.put(key, value) },
  { name: 'pairs', write: (db, { key, value }) => db.putMany([[key, value]]) },
  { name: 'pairs that come later', write: (db, row) => db.putMany(slowly([row.key, row.value])) },
  {
    name: 'objects',
    write: (db, { value }) => {
      const { rows, options } = keyed(value, '/id');
      return db.putMany(rows, options);
    },
  },
  {
    name: 'objects, key further in',
    write: (db, { value }) => {
      const { rows, options } = keyed(value, '/n/id');
      return db.putMany(rows, options);
    },
  },
  {
    name: 'objects, key by a function',
    write: (db, { value }) => db.putMany([value], { key: ({ id }) => id }),
  },
  {
    name: 'an array in bytes',
    code: 'invalid-data/row',
    write: (db, { key, value }) => db.putMany(bytes(JSON.stringify([[key, value]]))),
  },
  {
    name: 'lines',
    code: 'invalid-data/row',
    write: (db, { key, value }) => {
      const text = `${JSON.stringify([key, value])}\n`;
      return db.putMany(bytes(text), { format: 'ndjson' });
    },
  },
  {
    name: 'lines of objects, key further in',
    code: 'invalid-data/row',
    write: (db, { value }) => {
      const text = `${JSON.stringify(value)}\n`;
      return db.putMany(bytes(text), { key: '/n/id', format: 'ndjson' });
    },
  },
  {
    name: 'an array of objects with spaces',
    code: 'invalid-data/row',
    write: (db, { value }) => db.putMany(bytes(`[ ${spaced(value)} ]`), { key: '/id' }),
  },
  {
    name: 'a patch that puts',
    code: 'invalid-data/patch',
    write: (db, row) => db.applyPatch(patchOf(row)),
  },
  {
    name: 'a patch that updates',
    code: 'invalid-data/patch',
    write: (db, row) => db.applyPatch(updateOf(row)),
  },
  {
    name: 'a patch in lines that puts',
    code: 'invalid-data/patch',
    write: (db, row) => db.applyPatch(linesOf(patchOf(row))),
  },
  {
    name: 'a patch in lines that updates',
    code: 'invalid-data/patch',
    write: (db, row) => db.applyPatch(linesOf(updateOf(row))),
  },
  {
    name: 'a writer',
    write: async (db, { key, value }) => {
      const writer = db.writer();
      try {
        await writer.put(key, value);
      } catch (cause) {
        await writer.abort();
        throw cause;
      }
      await writer.close();
    },
  },
  {
    name: 'a transaction',
    write: (db, { key, value }) =>
      db.transaction(async (tx) => {
        tx.put(key, value);
      }),
  },
  {
    name: 'a branch that is merged',
    write: async (db, { key, value }) => {
      const branch = await db.branches.open('draft');
      try {
        await branch.put(key, value);
        await db.branches.merge(branch);
      } finally {
        await branch.close();
        await db.branches.delete('draft');
      }
    },
  },
];

/** A written row, with its store. */
export interface Outcome {
  readonly db: Store;
  readonly storage: Storage;
  readonly row: Row;
  readonly base: Base;
  readonly before: string;
}

/** Returns all expected rows as text, to compare values that are nested deeply. */
function expected({ row, base }: Outcome): string {
  const rows = [...others(base), row].map(({ key, value }): [string, unknown] => [key, value]);
  return JSON.stringify(rows.sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b))));
}

const isSame = (found: unknown, wanted: unknown) =>
  JSON.stringify(found) === JSON.stringify(wanted);

/** Returns the range of the row alone. */
const only = ({ row: { key } }: Outcome): KeyRange => ({ gte: key, lte: key });

/** All ways to read; each returns whether it reads the written row. */
export const READERS: Readonly<Record<string, (outcome: Outcome) => Promise<boolean>>> = {
  get: async ({ db, row }) => isSame(await db.get(row.key), row.value),
  getMany: async ({ db, row }) => isSame(await db.getMany([row.key, '?']), [row.value, undefined]),
  has: async ({ db, row }) => db.has(row.key),
  count: async (outcome) => (await outcome.db.count(only(outcome))) === 1,
  scan: async (outcome) => JSON.stringify(await all(outcome.db)) === expected(outcome),
  'a scan in reverse': async (outcome) => {
    const rows = await outcome.db.scan({ reverse: true }).toArray();
    return JSON.stringify(rows.reverse()) === expected(outcome);
  },
  'a scan of keys': async (outcome) =>
    isSame(await outcome.db.scan(only(outcome)).keys().toArray(), [outcome.row.key]),
  'a snapshot': async ({ db, row }) => {
    const snapshot = db.snapshot();
    const value = await snapshot.get(row.key);
    snapshot.close();
    return isSame(value, row.value);
  },
  'a transaction': async ({ db, row }) =>
    db.transaction(async (tx) => isSame(await tx.get(row.key), row.value)),
  diff: async ({ db, row, base, before }) => {
    const found = await db.history.diff(before, db.root).toArray();
    const changes =
      base === 'the same key'
        ? [{ key: row.key, op: 'update', oldValue: rowOf(row.key, 0).value, newValue: row.value }]
        : [{ key: row.key, op: 'insert', newValue: row.value }];
    return isDeepStrictEqual(found, changes);
  },
  proof: async ({ db, row }) => {
    const shown = await verifyProof(db.root, row.key, await db.prove(row.key));
    return isSame(shown, { value: row.value });
  },
  'a proof of all': async (outcome) => {
    const { db } = outcome;
    const { entries } = await verifyProof(db.root, {}, await db.prove({}));
    return JSON.stringify(entries) === expected(outcome);
  },
  verify: async ({ db }) => {
    const { ok, rows } = await db.health.verify({ checkIndexes: true });
    return ok && rows === (await db.count());
  },
  'a repair, which loses nothing': async ({ db }) => {
    const { root } = db;
    const { lost, rowsLost, faults } = await db.health.repair({ salvage: true });
    return isSame([lost, rowsLost, faults], [[], 0, []]) && db.root === root;
  },
  'an import of its export': async (outcome) => {
    const { db } = outcome;
    const storage = memory();
    const { root } = await importStore('copy', [await exported(db)], {
      storage,
      checkIndexes: true,
    });
    const copy = await open('copy', { storage });
    const rows = JSON.stringify(await all(copy));
    await copy.close();
    return root === db.root && rows === expected(outcome);
  },
  'an index, as far as its entries are keys': async ({ db, row }) => {
    const found = await db.scan({ index: 'id' }).keys().toArray();
    const keys = await db.scan().keys().toArray();
    // Kind, text and end, and the key of the row.
    const isKey = (key: string) => 2 * Buffer.byteLength(key) + 2 <= 1024;
    return keys.includes(row.key) && isSame([...found].sort(), keys.filter(isKey).sort());
  },
  'after it was opened again': async (outcome) => {
    const again = await open('test', { storage: outcome.storage });
    const rows = JSON.stringify(await all(again));
    await again.close();
    return rows === expected(outcome);
  },
};
