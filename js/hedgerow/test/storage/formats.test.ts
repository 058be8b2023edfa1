/**
 * Stores of earlier versions can be read: each `vectors/formats/store-N.json` is a store as a version of the package
 * left it in IndexedDB and in SQLite, its export, and a proof. `docs/releases.md` lists the versions.
 */
import 'fake-indexeddb/auto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { IDBFactory } from 'fake-indexeddb';
import { beforeEach, describe, expect, it } from 'vitest';
import { sqlite } from '../../../sqlite/src/index.js';
import { folder } from '../../../sqlite/test/support/sql-storages.js';
import { Sqlite } from '../../../sqlite/test/support/sqlite.mjs';
import { importStore, memory, type OpenOptions, open, type Store } from '../../src/index.js';
import { verifyProof } from '../../src/store/verify-row-proof.js';
import { failure } from '../support/models/store-model.js';

/** Bytes are `{ gzip }`, deflated in base64. */
type Plain = unknown;
interface Vector {
  readonly format: number;
  readonly options: OpenOptions;
  readonly expected: {
    readonly root: string;
    readonly rows: readonly (readonly [string, Plain])[];
    readonly closed: number;
    readonly tall: number;
    readonly sum: { readonly hash: string; readonly sum: string };
    readonly branch: { readonly name: string; readonly root: string; readonly count: number };
  };
  readonly export: Plain;
  readonly proof: { readonly key: string; readonly bytes: Plain };
  readonly indexeddb: {
    readonly version: number;
    readonly stores: Readonly<Record<string, readonly (readonly [IDBValidKey, Plain])[]>>;
  };
  readonly sqlite: {
    readonly file: string;
    readonly application_id: number;
    readonly user_version: number;
    readonly tables: readonly {
      readonly name: string;
      readonly sql: string;
      readonly rows: readonly (readonly Plain[])[];
    }[];
  };
}

const FOLDER = fileURLToPath(new URL('../../../../vectors/formats', import.meta.url));
const VECTORS = readdirSync(FOLDER).map(
  (file) => JSON.parse(readFileSync(join(FOLDER, file), 'utf8')) as Vector,
);
const NAME = 'vectors';

function real(value: Plain): unknown {
  const packed = (value as { gzip?: string } | null)?.gzip;
  if (packed === undefined) return value;
  return new Uint8Array(gunzipSync(Buffer.from(packed, 'base64')));
}

const done = <T>(request: IDBRequest<T>) =>
  new Promise<T>((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

/** Restores the records of IndexedDB. `change` may return another value for one. */
async function restoreIdb(
  { version, stores }: Vector['indexeddb'],
  change = (_store: string, value: unknown) => value,
): Promise<OpenOptions> {
  const request = indexedDB.open(`hedgerow/${NAME}`, version);
  request.onupgradeneeded = () => {
    for (const store of Object.keys(stores)) request.result.createObjectStore(store);
  };
  const database = await done(request);
  const transaction = database.transaction(Object.keys(stores), 'readwrite');
  for (const [store, records] of Object.entries(stores)) {
    const at = transaction.objectStore(store);
    await Promise.all(records.map(([key, value]) => done(at.put(change(store, real(value)), key))));
  }
  database.close();
  return {};
}

/** Returns all records of these object stores. */
async function storedIn(...names: string[]): Promise<unknown[][]> {
  const database = await done(indexedDB.open(`hedgerow/${NAME}`));
  const transaction = database.transaction(names);
  const read = async (name: string) => {
    const at = transaction.objectStore(name);
    return Promise.all([done(at.getAllKeys()), done(at.getAll())]);
  };
  const all = await Promise.all(names.map(read));
  database.close();
  return all.flat();
}

/** Restores the file of SQLite; `sql` is run at the end. */
function restoreSqlite(
  { file, application_id, user_version, tables }: Vector['sqlite'],
  sql = '',
): OpenOptions {
  const location = folder();
  const database = new Sqlite(join(location, file));
  database.exec(`PRAGMA application_id = ${application_id}`);
  database.exec(`PRAGMA user_version = ${user_version}`);
  for (const { name, sql: create, rows } of tables) {
    database.exec(create);
    for (const row of rows) {
      const values = row.map((value) => {
        const it = real(value);
        return it instanceof Uint8Array ? Buffer.from(it) : it;
      });
      database.prepare(`INSERT INTO ${name} VALUES (${row.map(() => '?').join()})`).run(...values);
    }
  }
  database.exec(sql);
  database.close();
  return { storage: sqlite({ location }) };
}

/** Expects that the store has all its content, and can be changed. */
async function expectWhole(db: Store, { expected }: Vector): Promise<void> {
  expect(db.root).toBe(expected.root);
  expect(await db.scan().toArray()).toEqual(
    expected.rows.map(([key, value]) => [key, real(value)]),
  );
  expect(await db.count({ index: 'byState', equals: 'closed' })).toBe(expected.closed);
  expect(await db.count({ index: 'words', equals: 'tall' })).toBe(expected.tall);
  const { hash, sum } = db.sumTree('sizes').root;
  expect({ hash, sum: String(sum) }).toEqual(expected.sum);
  const branch = await db.branches.open(expected.branch.name);
  expect([branch.root, await branch.count()]).toEqual([
    expected.branch.root,
    expected.branch.count,
  ]);
  await branch.close();
  expect((await db.health.verify({ checkIndexes: true })).faults).toEqual([]);

  // A new row has the same form: without it the root is the old one.
  await db.put('issue/new', { title: 'tall', state: 'closed', size: 5 });
  expect(await db.count({ index: 'words', equals: 'tall' })).toBe(expected.tall + 1);
  await db.delete('issue/new');
  expect(db.root).toBe(expected.root);
  await db.close();
}

beforeEach(() => {
  globalThis.indexedDB = new IDBFactory();
});

it('each format up to this one has a vector', async () => {
  const { FORMAT } = await import('../../src/base/limits.js');
  const all = VECTORS.map(({ format }) => format).sort((a, b) => a - b);
  expect(all).toEqual(Array.from({ length: FORMAT }, (_, nth) => nth + 1));
});

describe.each(VECTORS)('format $format', (vector) => {
  it('has an example of every feature', () => {
    const { rows } = vector.expected;
    expect(rows.length).toBeGreaterThan(200);
    expect(rows.some(([, value]) => real(value) instanceof Uint8Array)).toBe(true);
    expect(vector.expected.closed * vector.expected.tall).toBeGreaterThan(0);
    expect(vector.expected.branch.root).not.toBe(vector.expected.root);
  });

  it('is read from IndexedDB', async () => {
    const options = await restoreIdb(vector.indexeddb);
    await expectWhole(await open(NAME, { ...vector.options, ...options }), vector);
  });

  it('is read from SQLite', async () => {
    const options = restoreSqlite(vector.sqlite);
    await expectWhole(await open(NAME, { ...vector.options, ...options }), vector);
  });

  it('is read from an export', async () => {
    const storage = memory();
    const bytes = real(vector.export) as Uint8Array<ArrayBuffer>;
    const { root } = await importStore(NAME, new Blob([bytes]), { storage });
    expect(root).toBe(vector.expected.root);
    await expectWhole(await open(NAME, { ...vector.options, storage }), vector);
  });

  it('has proofs that are verified', async () => {
    const { proof, expected } = vector;
    const bytes = real(proof.bytes) as Uint8Array;
    const value = real(expected.rows.find(([key]) => key === proof.key)?.[1]);
    expect(await verifyProof(expected.root, proof.key, bytes)).toEqual({ value });
  });
});

describe('a later format', () => {
  const [vector] = VECTORS as [Vector];
  const refused = failure('newer-version/format');

  /** Makes moves that contain 200 in place of their format, which follows the commit. */
  const later = (store: string, value: unknown) => {
    if (store !== 'refs' || !(value instanceof Uint8Array)) return value;
    const changed = value.slice();
    changed[32] = 200;
    return changed;
  };

  it('is refused in IndexedDB, and the store does not change', async () => {
    await restoreIdb(vector.indexeddb, later);
    const before = await storedIn('refs', 'segments', 'tables');
    await expect(open(NAME)).rejects.toEqual(refused);
    expect(before.flat().length).toBeGreaterThan(0);
    expect(await storedIn('refs', 'segments', 'tables')).toEqual(before);
  });

  it('is refused in SQLite', async () => {
    const options = restoreSqlite(vector.sqlite, 'UPDATE ref SET format = 200');
    await expect(open(NAME, options)).rejects.toEqual(refused);
  });

  it('of an export or of a proof is refused', async () => {
    const bytes = (real(vector.export) as Uint8Array<ArrayBuffer>).slice();
    bytes[4] = 200;
    const storage = memory();
    await expect(importStore(NAME, new Blob([bytes]), { storage })).rejects.toEqual(refused);
    const proof = (real(vector.proof.bytes) as Uint8Array).slice();
    proof[1] = 200;
    const { root } = vector.expected;
    await expect(verifyProof(root, vector.proof.key, proof)).rejects.toEqual(refused);
  });
});
