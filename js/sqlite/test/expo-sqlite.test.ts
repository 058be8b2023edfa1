/** Stores over expo-sqlite: behaviour outside of the contract of adapters. */
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { localLocks } from '../../hedgerow/src/base/local-locks.js';
import { destroy, memory, open, type Storage } from '../../hedgerow/src/index.js';
import { ofKind } from '../../hedgerow/test/support/error-kind.js';
import { random } from '../../hedgerow/test/support/random.js';
import { expoSqlite } from '../src/expo-sqlite.js';
import { type ExpoSqlite, expoConnection } from '../src/expo-sqlite-driver.js';
import { expoSqliteStorage } from '../src/expo-sqlite-storage.js';
import { opSqliteStorage } from '../src/op-sqlite-storage.js';
import { sqlStorage } from '../src/sql-storage.js';
import { EXPO_VERSIONS, expoSqliteOf, folder, opSqliteOf } from './support/sql-storages.js';

const invalid = expect.objectContaining(ofKind('invalid-argument'));
const refuseKey = () => {
  throw new Error('no key');
};

/** Wraps the package, with each call of it in a list. */
function recorded(expo: ExpoSqlite): { expo: ExpoSqlite; calls: string[] } {
  const calls: string[] = [];
  return {
    calls,
    expo: {
      deleteDatabaseAsync: expo.deleteDatabaseAsync,
      async openDatabaseAsync(name, options, directory) {
        calls.push(`open ${JSON.stringify(options)}`);
        const db = await expo.openDatabaseAsync(name, options, directory);
        return {
          execAsync(sql) {
            calls.push(sql);
            return db.execAsync(sql);
          },
          closeAsync() {
            calls.push('close');
            return db.closeAsync();
          },
          prepareAsync(sql) {
            calls.push(`prepare ${sql}`);
            return db.prepareAsync(sql);
          },
        };
      },
    },
  };
}

describe.each(EXPO_VERSIONS)('stores over expo-sqlite %s', (version) => {
  it('have a connection of their own, and prepare each statement once', async () => {
    const { expo, calls } = recorded(await expoSqliteOf(version));
    const db = await open('app', { storage: expoSqliteStorage(expo, { directory: folder() }) });
    for (let at = 0; at < 5; at++) await db.put(`k${at}`, at);
    await db.close();
    expect(calls.filter((call) => call.startsWith('open'))).toEqual([
      'open {"useNewConnection":true}',
    ]);
    const prepared = calls.filter((call) => call.startsWith('prepare INSERT INTO ref'));
    expect(prepared).toHaveLength(1);
    expect(calls.filter((call) => call === 'BEGIN IMMEDIATE').length).toBeGreaterThanOrEqual(5);
    expect(calls.at(-1)).toBe('close');
  });

  it('leave no statement behind, also after a failed one', async () => {
    const leftOver: string[] = [];
    const expo = await expoSqliteOf(version, { leftOver });
    const directory = folder();
    const connection = await expoConnection(expo, { name: 'a.sqlite', directory, refuseKey });
    await connection.write([['CREATE TABLE t (id INTEGER PRIMARY KEY, b BLOB NOT NULL)']]);
    const insert = 'INSERT INTO t VALUES (?, ?)';
    const bytes = new Uint8Array([1]);
    await connection.write([[insert, [1, bytes]]]);
    const twice = connection.write([
      [insert, [2, bytes]],
      [insert, [1, bytes]],
    ]);
    await expect(twice).rejects.toThrow('UNIQUE constraint failed: t.id');
    await expect(connection.write([[insert, [3, null]]])).rejects.toThrow('NOT NULL');
    await expect(connection.read('SELECT missing')).rejects.toThrow('missing');
    // The failed statement has not changed the file, and works again.
    await connection.write([[insert, [2, bytes]]]);
    expect(await connection.read('SELECT id FROM t')).toEqual([[1], [2]]);
    await connection.close();
    expect(leftOver).toEqual([]);
  });

  it('keep bytes as they are: empty, short, and views into larger buffers', async () => {
    const expo = await expoSqliteOf(version);
    const connection = await expoConnection(expo, {
      name: 'a.sqlite',
      directory: folder(),
      refuseKey,
    });
    await connection.write([['CREATE TABLE t (id INTEGER, b BLOB NOT NULL, c BLOB NOT NULL)']]);
    const whole = new Uint8Array([9, 1, 2, 3, 9]);
    const none = new Uint8Array();
    const rows = [
      [1, none, whole],
      [2, whole.subarray(1, 4), none],
      [3, none, none],
      [4, whole.subarray(2, 2), whole.subarray(4)],
    ];
    await connection.write(rows.map((row) => ['INSERT INTO t VALUES (?, ?, ?)', row]));
    const read = await connection.read('SELECT b, c FROM t ORDER BY id');
    expect(read).toEqual(
      [
        [[], [9, 1, 2, 3, 9]],
        [[1, 2, 3], []],
        [[], []],
        [[], [9]],
      ].map((row) => row.map((bytes) => new Uint8Array(bytes))),
    );
    // Returned bytes do not share their buffer.
    for (const bytes of read.flat() as Uint8Array[]) {
      expect(bytes.buffer.byteLength).toBe(bytes.byteLength);
    }
    await connection.close();
  });

  it('are written by two handles at once, without a lost row', async () => {
    const storage = expoSqliteStorage(await expoSqliteOf(version), { directory: folder() });
    const handles = [await open('app', { storage }), await open('app', { storage })];
    const from = random(version.length);
    const puts: Promise<unknown>[] = [];
    for (let at = 0; at < 60; at++) {
      const db = handles[at % 2] as (typeof handles)[number];
      puts.push(db.put(`k${at}`, from.bytes(2000)));
      if (from.below(3) === 0) await puts.at(-1);
      if (from.below(4) === 0) {
        puts.push(
          db.transaction(async (tx) => {
            tx.put('count', Number((await tx.get('count')) ?? 0) + 1);
          }),
        );
      }
    }
    await Promise.all(puts);
    const counted = puts.length - 60;
    // The commits of the other handle arrive a moment later.
    for (const db of handles) await expect.poll(() => db.get('count')).toBe(counted);
    await expect.poll(() => handles[0]?.count({ prefix: 'k' })).toBe(60);
    expect((await handles[1]?.health.verify())?.ok).toBe(true);
    await Promise.all(handles.map((db) => db.close()));
  });

  it('fail with a typed error when the disk is full, without a lost row', async () => {
    const [expo, directory] = [await expoSqliteOf(version), folder()];
    let set: ((sql: string) => unknown) | undefined;
    const storage: Storage = sqlStorage({
      place: directory,
      prefix: 'test',
      locks: localLocks(),
      async open(name) {
        const connection = await expoConnection(expo, { name, directory, refuseKey });
        set = connection.set;
        return connection;
      },
    });
    const from = random(1);
    const rows = (name: string, count: number) =>
      Array.from({ length: count }, (_, at): [string, unknown] => [
        `${name}/${at}`,
        from.bytes(1000),
      ]);
    const db = await open('app', { storage });
    await db.putMany(rows('first', 100));
    await set?.('PRAGMA max_page_count = 40');
    await expect(db.putMany(rows('more', 3000))).rejects.toMatchObject({ code: 'quota-exceeded' });
    expect(await db.count()).toBe(100);
    await set?.('PRAGMA max_page_count = 100000');
    await db.putMany(rows('more', 3000));
    expect((await db.health.verify()).ok).toBe(true);
    await db.close();
  });

  it('are deleted with the other files of SQLite', async () => {
    const directory = folder();
    const storage = expoSqliteStorage(await expoSqliteOf(version), { directory });
    const db = await open('app', { storage });
    await db.put('a', 1);
    await destroy('app', { storage });
    expect(readdirSync(directory)).toEqual([]);
    // An unreadable file, with a log that the next file must not get.
    for (const suffix of ['', '-wal']) {
      writeFileSync(join(directory, `hedgerow.app.sqlite${suffix}`), 'x'.repeat(4096));
    }
    await expect(open('app', { storage })).rejects.toMatchObject({ code: 'wrong-key' });
    await destroy('app', { storage });
    expect(readdirSync(directory)).toEqual([]);
    const again = await open('app', { storage });
    expect(await again.get('a')).toBeUndefined();
    await again.close();
  });

  it('have the files of op-sqlite, and open its stores', async () => {
    const directory = folder();
    const op = opSqliteStorage(await opSqliteOf('18'), { location: directory });
    const expo = expoSqliteStorage(await expoSqliteOf(version), { directory });
    const roots: string[] = [];
    for (const storage of [op, expo, op]) {
      const db = await open('app', { storage });
      roots.push(db.root);
      await db.put(`k${roots.length}`, roots.length);
      expect(await db.count()).toBe(roots.length);
      await db.close();
    }
    expect(new Set(roots).size).toBe(3);
    expect(readdirSync(directory).filter((file) => file.endsWith('.sqlite'))).toHaveLength(1);
  });

  it('are encrypted by a build with encryption, and refused by a build without it', async () => {
    const [directory, keys] = [folder(), new Map<string, string>()];
    const plain = expoSqliteStorage(await expoSqliteOf(version), { directory, encryptionKey: 'k' });
    await expect(open('app', { storage: plain })).rejects.toMatchObject({
      ...ofKind('invalid-argument'),
      message: expect.stringContaining('useSQLCipher'),
    });
    const expo = await expoSqliteOf(version, { isEncrypting: true, keys });
    const encryptionKey = "it's a 'secret'";
    const storage = expoSqliteStorage(expo, { directory, encryptionKey });
    const db = await open('app', { storage });
    await db.close();
    const path = join(directory, 'hedgerow.app.sqlite');
    expect([...keys]).toEqual([[path, encryptionKey]]);
    keys.clear();
    await destroy('app', { storage });
    expect([...keys]).toEqual([[path, encryptionKey]]);
    expect(existsSync(path)).toBe(false);
  });

  it('refuse malformed options', async () => {
    const expo = await expoSqliteOf(version);
    for (const options of [
      null,
      'folder',
      { name: 5 },
      { location: 'x' },
      { encryptionKey: '' },
      { encryptionKey: 'a\0b' },
    ]) {
      expect(() => expoSqliteStorage(expo, options as never)).toThrow(invalid);
    }
  });
});

describe('@hedgerow/sqlite/expo-sqlite', () => {
  it('uses the installed package, and makes the root that memory makes', async () => {
    const storage = expoSqlite({ directory: folder(), name: 'mine' });
    const roots = [];
    for (const one of [storage, memory()]) {
      const db = await open('app', { storage: one, indexes: { byAt: { path: '/at' } } });
      await db.putMany(Array.from({ length: 3000 }, (_, at) => [`k${at}`, { at: at % 9 }]));
      roots.push(db.root);
      await db.close();
    }
    expect(roots[0]).toBe(roots[1]);
    await destroy('app', { storage });
  });
});
