/** Stores over SQLite: behaviour outside of the contract of adapters. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { localLocks } from '../../hedgerow/src/base/local-locks.js';
import { destroy, memory, open, type Storage } from '../../hedgerow/src/index.js';
import { ofKind } from '../../hedgerow/test/support/error-kind.js';
import { random } from '../../hedgerow/test/support/random.js';
import type { SqlConnection } from '../src/driver.js';
import { fileNameOf } from '../src/file-name.js';
import { sqlite } from '../src/index.js';
import { opSqlite } from '../src/op-sqlite.js';
import { opConnection } from '../src/op-sqlite-driver.js';
import { opSqliteStorage } from '../src/op-sqlite-storage.js';
import { sqlStorage } from '../src/sql-storage.js';
import {
  connectionTo,
  DRIVER,
  folder,
  hasNodeSqlite,
  nodeBuildOf,
  OP_VERSIONS,
  opSqliteOf,
  SQL_STORAGES,
} from './support/sql-storages.js';
import { Sqlite } from './support/sqlite.mjs';

/** Rows that do not compress, of about 1 KB each. */
function rows(name: string, count: number): [string, unknown][] {
  const from = random(count);
  return Array.from({ length: count }, (_, at) => [`${name}/${at}`, from.bytes(1000)]);
}

const sqliteFiles = (location: string) =>
  readdirSync(location).filter((file) => file.endsWith('.sqlite'));

describe('the names of files', () => {
  it('differ when stores differ, also where upper and lower case are equal', () => {
    const odd = ['', 'a', 'A', 'a.b', 'a=2eb', 'a/b', 'é', 'e\u0301', '=', '==', '\0', '\ud800'];
    const long = ['x'.repeat(500), `${'x'.repeat(499)}y`, 'X'.repeat(500), 'é'.repeat(300)];
    const names = [...odd, ...long, '\udfff', '🌿'.repeat(60), `${'🌿'.repeat(59)}🍀`];
    const pairs = names.flatMap((prefix) => names.map((name) => fileNameOf(prefix, name)));
    expect(new Set(pairs.map((file) => file.toLowerCase())).size).toBe(names.length ** 2);
    for (const file of pairs) expect(file).toMatch(/^[a-z0-9_=.-]{1,230}$/);
    expect(fileNameOf('hedgerow', 'app')).toBe('hedgerow.app.sqlite');
  });

  it('begin with the given name, and such stores are separate', async () => {
    const location = folder();
    const [one, other] = [sqlite({ location }), sqlite({ location, name: 'other' })];
    const db = await open('app', { storage: one });
    await db.put('a', 1);
    const apart = await open('app', { storage: other });
    expect(await apart.get('a')).toBeUndefined();
    expect(sqliteFiles(location)).toEqual(['hedgerow.app.sqlite', 'other.app.sqlite']);
    await Promise.all([db.close(), apart.close()]);
    await destroy('app', { storage: other });
    await (await open('app', { storage: one, advanced: { mustExist: true } })).close();
    await destroy('app', { storage: one });
    // No file of them is left, and no file of their locks.
    expect(readdirSync(location)).toEqual(['hedgerow-locks']);
    expect(readdirSync(join(location, 'hedgerow-locks'))).toEqual(['locks.sqlite']);
  });
});

describe.each(SQL_STORAGES)('%s', (_, make) => {
  it('has the root that memory has', async () => {
    const roots = [];
    for (const storage of [memory(), await make()]) {
      const db = await open('app', { storage, indexes: { byAt: { path: '/at' } } });
      await db.putMany(Array.from({ length: 5000 }, (_, at) => [`k${at}`, { at: at % 100 }]));
      await db.put('one', { at: 1 });
      await db.deleteMany({ prefix: 'k1' });
      expect(await db.scan({ index: 'byAt', equals: 7 }).keys().toArray()).toHaveLength(39);
      roots.push(db.root);
      await db.close();
      const again = await open('app', { storage });
      expect(again.root).toBe(roots.at(-1));
      await again.close();
    }
    expect(roots[0]).toBe(roots[1]);
  });

  it('notifies other handles of a commit', async () => {
    const storage = await make();
    const [db, other] = [await open('app', { storage }), await open('app', { storage })];
    const seen: unknown[] = [];
    const stop = other.watch({}, (changes) => seen.push(...changes.map(({ key }) => key)));
    await db.put('a', 1);
    await expect.poll(() => seen, { timeout: 10_000 }).toEqual(['a']);
    expect(await other.get('a')).toBe(1);
    stop();
    await Promise.all([db.close(), other.close()]);
  });
});

/** Storage whose connections the test can reach. */
function reachable(connect: (file: string) => Promise<SqlConnection>) {
  const connections: SqlConnection[] = [];
  const storage: Storage = sqlStorage({
    place: folder(),
    prefix: 'test',
    locks: localLocks(),
    async open(file) {
      const connection = await connect(file);
      connections.push(connection);
      return connection;
    },
  });
  return { storage, connections };
}

const places: [string, () => Promise<(file: string) => Promise<SqlConnection>>][] = [
  [
    DRIVER,
    async () => {
      const location = folder();
      return async (file) => connectionTo(join(location, file));
    },
  ],
  ...OP_VERSIONS.map((version): (typeof places)[number] => [
    `op-sqlite ${version}`,
    async () => {
      const [op, location] = [await opSqliteOf(version), folder()];
      return (name) => opConnection(op, { name, location });
    },
  ]),
];

describe.each(places)('a full disk, over %s', (_, connectTo) => {
  it('fails a change with a typed error, without a lost row', async () => {
    const { storage, connections } = reachable(await connectTo());
    const db = await open('app', { storage });
    await db.putMany(rows('first', 100));
    const { root } = db;
    const [connection] = connections;
    await connection?.set('PRAGMA max_page_count = 40');
    for (const change of [() => db.putMany(rows('more', 3000)), () => db.putMany(rows('b', 600))]) {
      await expect(change()).rejects.toMatchObject({ code: 'quota-exceeded', retryable: true });
    }
    expect(db.root).toBe(root);
    expect(await db.count()).toBe(100);
    await connection?.set('PRAGMA max_page_count = 100000');
    await db.putMany(rows('more', 3000));
    expect((await db.health.verify()).ok).toBe(true);
    expect(await db.count()).toBe(3100);
    await db.close();
  });
});

/** Returns the longest time that one of twenty short timers has taken. */
async function longestStop(): Promise<number> {
  let longestMs = 0;
  for (let turns = 0; turns < 20; turns++) {
    const startMs = performance.now();
    await new Promise((resolve) => setTimeout(resolve, 5));
    longestMs = Math.max(longestMs, performance.now() - startMs);
  }
  return longestMs;
}

describe('a file that another program has locked', () => {
  it('blocks a call, but not the thread', async () => {
    const location = folder();
    const db = await open('app', { storage: sqlite({ location, driver: DRIVER }) });
    await db.put('a', 1);
    const other = new Sqlite(join(location, 'hedgerow.app.sqlite'), { timeout: 0 });
    other.exec('BEGIN IMMEDIATE');
    let isDone = false;
    const put = db.put('a', 2).then(() => {
      isDone = true;
    });
    // A machine may stop for a second, but not in each try; a call that blocks the thread does so in each.
    let longestMs = Number.POSITIVE_INFINITY;
    for (let tries = 0; tries < 3 && longestMs >= 1000; tries++) longestMs = await longestStop();
    expect(isDone).toBe(false);
    expect(longestMs).toBeLessThan(1000);
    other.exec('ROLLBACK');
    await put;
    expect(await db.get('a')).toBe(2);
    other.close();
    await db.close();
  });
});

describe('a file of another format', () => {
  const path = (location: string) => join(location, 'hedgerow.app.sqlite');

  it('is refused and left alone', async () => {
    const [text, foreign, newer] = [folder(), folder(), folder()];
    writeFileSync(path(text), 'no database at all, but long enough to be looked at. '.repeat(99));
    const other = new Sqlite(path(foreign));
    other.exec('CREATE TABLE segment_table (mine)');
    other.close();
    await (await open('app', { storage: sqlite({ location: newer }) })).close();
    const later = new Sqlite(path(newer));
    later.exec('PRAGMA user_version = 2');
    later.close();
    for (const location of [text, foreign, newer]) {
      const before = readFileSync(path(location));
      const storage = sqlite({ location });
      const call = open('app', { storage });
      // It may as well be a database that is encrypted.
      const kind = location === text ? 'wrong-key' : 'newer-version/format';
      await expect(call).rejects.toMatchObject(ofKind(kind));
      expect(readFileSync(path(location)).equals(before)).toBe(true);
      // A deletion is allowed.
      await destroy('app', { storage });
      expect(existsSync(path(location))).toBe(false);
    }
  });
});

describe('options', () => {
  const invalid = expect.objectContaining(ofKind('invalid-argument'));

  it('without meaning are refused', async () => {
    for (const location of ['', ':memory:', undefined as unknown as string]) {
      expect(() => sqlite({ location })).toThrow(invalid);
    }
    const here = { location: folder() };
    for (const options of [null, 'folder', { ...here, driver: 'sqlite' }, { ...here, name: 5 }]) {
      expect(() => sqlite(options as never)).toThrow(invalid);
    }
    expect(() => sqlite({ ...here, drivr: 'node:sqlite' } as never)).toThrow(invalid);
    for (const options of [null, 'folder', { name: 5 }, { encryption: 'secret' }]) {
      expect(() => opSqlite(options as never)).toThrow(invalid);
    }
    const op = await opSqliteOf(OP_VERSIONS[0] ?? '', { isEncrypting: true });
    expect(() => opSqliteStorage(op, { location: ':memory:' })).toThrow(invalid);
    expect(() => opSqliteStorage(op, { encryptionKey: '' })).toThrow(invalid);
  });

  it('name a driver, which must be installed', async () => {
    const opening = open('app', { storage: sqlite({ location: folder(), driver: 'node:sqlite' }) });
    if (hasNodeSqlite) await (await opening).close();
    else await expect(opening).rejects.toMatchObject({ code: 'unavailable', detail: 'storage' });
  });

  it('of @hedgerow/sqlite/op-sqlite are passed to the installed package', async () => {
    const location = folder();
    const storage = opSqlite({ location, name: 'mine' });
    const db = await open('app', { storage });
    await db.put('a', 1);
    await db.close();
    expect(sqliteFiles(location)).toEqual(['mine.app.sqlite']);
    await destroy('app', { storage });
    expect(sqliteFiles(location)).toEqual([]);
  });
});

describe.each(OP_VERSIONS)('an encryption key, over op-sqlite %s', (version) => {
  it('is refused by a build without encryption', async () => {
    for (const op of [await opSqliteOf(version), await nodeBuildOf(version)]) {
      expect(() => opSqliteStorage(op, { encryptionKey: 'secret' })).toThrow(
        expect.objectContaining(ofKind('invalid-argument')),
      );
    }
  });

  it('and a location are used to open, and to delete', async () => {
    const [location, keys] = [folder(), new Map<string, string | undefined>()];
    const op = await opSqliteOf(version, { isEncrypting: true, keys });
    const storage = opSqliteStorage(op, { location, encryptionKey: 'secret' });
    const path = join(location, 'hedgerow.app.sqlite');
    const db = await open('app', { storage });
    await db.close();
    expect([...keys]).toEqual([[path, 'secret']]);
    keys.clear();
    await destroy('app', { storage });
    expect([...keys]).toEqual([[path, 'secret']]);
    expect(existsSync(path)).toBe(false);
  });
});
