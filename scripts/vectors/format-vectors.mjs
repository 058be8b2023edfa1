// `node scripts/vectors/format-vectors.mjs`: writes `vectors/formats/store-N.json`, a store as the package in `js/hedgerow/dist` stores
// it in IndexedDB and in SQLite, exports it and proves a row of it. Every later version must read it, so it is written
// once: for a new format, before this is released. `js/hedgerow/test/storage/formats.test.ts` reads them.

import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { formatsOfCode } from '../lib/release-formats.mjs';
import { CommandFailed, ROOT, runMain } from '../lib/run.mjs';

const NAME = 'vectors';
const OPTIONS = {
  indexes: {
    byState: { prefix: 'issue/', path: ['/state', '/size'] },
    words: { path: { words: '/title' } },
  },
  advanced: { sums: { sizes: { sum: '/size', prefix: 'issue/' } } },
};
const BRANCH = 'draft/ü';

/** Bytes in JSON, deflated. */
const packed = (bytes) => ({ gzip: gzipSync(bytes, { level: 9 }).toString('base64') });
const plain = (value) => (value instanceof Uint8Array ? packed(value) : value);
const pattern = (length) => Uint8Array.from({ length }, (_, at) => (at * 7) & 0xff);

const issue = (id) => [
  `issue/${String(id).padStart(4, '0')}`,
  {
    title: `Issue ${id} is tall`,
    state: id % 3 ? 'open' : 'closed',
    size: id,
    tags: ['a', null, 1.5, '😀'],
  },
];

/** Makes a history that leaves one of everything in the format. */
async function make(open, storage) {
  const db = await open(NAME, { ...OPTIONS, ...storage });
  await db.putMany(Array.from({ length: 250 }, (_, id) => issue(id)));
  await db.put('bytes/short', pattern(10));
  await db.put('bytes/pieces', pattern(70_000));
  await db.put('text', 'x'.repeat(5000));
  await db.delete('issue/0003');
  await db.put('issue/0004', { title: 'Changed', state: 'open', size: 7 });
  const branch = await db.branches.open(BRANCH);
  await branch.put('issue/9999', { title: 'On a branch', state: 'open', size: 1 });
  const rows = [];
  for await (const [key, value] of db.scan()) rows.push([key, plain(value)]);
  const { hash, sum } = db.sumTree('sizes').root;
  const exported = await new Response(await db.backup.export({ branches: true })).arrayBuffer();
  const found = {
    expected: {
      root: db.root,
      rows,
      closed: await db.count({ index: 'byState', equals: 'closed' }),
      tall: await db.count({ index: 'words', equals: 'tall' }),
      sum: { hash, sum: String(sum) },
      branch: { name: BRANCH, root: branch.root, count: await branch.count() },
    },
    export: packed(new Uint8Array(exported)),
    proof: { key: 'bytes/pieces', bytes: packed(await db.prove('bytes/pieces')) },
  };
  await branch.close();
  await db.close();
  return found;
}

const asked = (request) =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

/** Reads all records of the database. */
async function storedInIdb() {
  const database = await asked(indexedDB.open(`hedgerow/${NAME}`));
  const stores = {};
  for (const store of database.objectStoreNames) {
    const at = database.transaction(store).objectStore(store);
    const [keys, values] = await Promise.all([asked(at.getAllKeys()), asked(at.getAll())]);
    stores[store] = keys.map((key, nth) => [key, plain(values[nth])]);
  }
  const { version } = database;
  database.close();
  return { version, stores };
}

/** Reads the tables of the file, and the marks of its format. */
async function storedInSqlite(folder) {
  const { Sqlite } = await import('../../js/sqlite/test/support/sqlite.mjs');
  const file = readdirSync(folder).find(
    (name) => /(?<!-wal|-shm|-lock)$/.test(name) && name.includes(NAME),
  );
  const database = new Sqlite(join(folder, file));
  const rowsOf = (sql) => database.prepare(sql).all();
  const tables = rowsOf("SELECT name, sql FROM sqlite_master WHERE type = 'table'");
  const read = (name) => rowsOf(`SELECT * FROM ${name}`).map((row) => row.map(plain));
  const numberOf = (name) => rowsOf(`PRAGMA ${name}`)[0][0];
  const found = {
    file,
    application_id: numberOf('application_id'),
    user_version: numberOf('user_version'),
    tables: tables.map(([name, sql]) => ({ name, sql, rows: read(name) })),
  };
  database.close();
  return found;
}

async function main() {
  const { FORMAT } = formatsOfCode();
  const to = join(ROOT, 'vectors', 'formats', `store-${FORMAT}.json`);
  if (existsSync(to))
    throw new CommandFailed(`${to} is there: what versions have written does not change`);
  await import('fake-indexeddb/auto');
  const { open } = await import('../../js/hedgerow/dist/index.js');
  const { sqlite } = await import('../../js/sqlite/dist/index.js');
  const folder = mkdtempSync(join(tmpdir(), 'hedgerow-vectors-'));
  try {
    const found = await make(open, {});
    const indexeddb = await storedInIdb();
    const again = await make(open, { storage: sqlite({ location: folder }) });
    if (again.expected.root !== found.expected.root) throw new Error('the storages differ');
    const sqliteFile = await storedInSqlite(folder);
    mkdirSync(join(to, '..'), { recursive: true });
    const vector = { format: FORMAT, options: OPTIONS, ...found, indexeddb, sqlite: sqliteFile };
    writeFileSync(to, `${JSON.stringify(vector)}\n`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

await runMain(main);
