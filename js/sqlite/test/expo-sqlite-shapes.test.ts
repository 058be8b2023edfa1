/**
 * The properties of expo-sqlite that the adapter needs, version by version. The stand-in has them, and so has the
 * published package: `node scripts/long/expo-sqlite.mjs`.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { EXPO_VERSIONS, expoSqliteOf, folder } from './support/sql-storages.js';

describe.each(EXPO_VERSIONS)('expo-sqlite %s', (version) => {
  const made = async () => {
    const directory = folder();
    const expo = await expoSqliteOf(version);
    const db = await expo.openDatabaseAsync('a.sqlite', { useNewConnection: true }, directory);
    await db.execAsync('CREATE TABLE t (id INTEGER PRIMARY KEY, b BLOB, text TEXT NOT NULL)');
    const run = async (sql: string, values: (string | number | Uint8Array | null)[] = []) => {
      const statement = await db.prepareAsync(sql);
      try {
        return await (await statement.executeForRawResultAsync(values)).getAllAsync();
      } finally {
        await statement.finalizeAsync();
      }
    };
    return { expo, db, run, directory, path: join(directory, 'a.sqlite') };
  };
  const INSERT = 'INSERT INTO t VALUES (?, ?, ?)';

  it('returns all rows as arrays, from one statement many times', async () => {
    const { db, run } = await made();
    const insert = await db.prepareAsync(INSERT);
    for (const id of [7, 8, 9]) await insert.executeForRawResultAsync([id, null, `n${id}`]);
    await insert.finalizeAsync();
    const all = 'SELECT text, id, b FROM t WHERE id > ? ORDER BY id';
    expect(await run(all, [7])).toEqual([
      ['n8', 8, null],
      ['n9', 9, null],
    ]);
    expect(await run(all, [9])).toEqual([]);
    await db.closeAsync();
  });

  it('takes views for bytes and returns views, but no views without bytes', async () => {
    const { db, run } = await made();
    await run(INSERT, [1, new Uint8Array([1, 0, 255]), '']);
    await run(INSERT, [2, new Uint8Array(), '']);
    await run("INSERT INTO t VALUES (3, x'', '')");
    const rows = (await run('SELECT b FROM t ORDER BY id')) as [Uint8Array | null][];
    expect(rows[0]?.[0]).toBeInstanceOf(Uint8Array);
    expect(rows.map(([bytes]) => bytes && [...bytes])).toEqual([[1, 0, 255], null, []]);
    await db.closeAsync();
  });

  it('reports the error of SQLite, also when a failed statement is finalized', async () => {
    const { db, run } = await made();
    const statement = await db.prepareAsync(INSERT);
    const told = 'NOT NULL constraint failed: t.text';
    await expect(statement.executeForRawResultAsync([1, null, null])).rejects.toThrow(told);
    await expect(statement.finalizeAsync()).rejects.toThrow(told);
    await expect(db.execAsync('SELECT missing')).rejects.toThrow('no such column: missing');
    await expect(db.prepareAsync('SELECT missing')).rejects.toThrow('no such column: missing');
    expect(await run('SELECT count(*) FROM t')).toEqual([[0]]);
    await db.closeAsync();
  });

  it('opens separate connections, which do not wait for each other', async () => {
    const { expo, db, run, directory } = await made();
    const options = { useNewConnection: true };
    const other = await expo.openDatabaseAsync('a.sqlite', options, directory);
    await db.execAsync('BEGIN IMMEDIATE');
    await run(INSERT, [1, null, 'one']);
    await expect(other.execAsync('BEGIN IMMEDIATE')).rejects.toThrow('database is locked');
    await db.execAsync('COMMIT');
    await other.execAsync('BEGIN IMMEDIATE');
    await other.execAsync('ROLLBACK');
    await Promise.all([db.closeAsync(), other.closeAsync()]);
  });

  it('deletes closed databases, and reports missing ones', async () => {
    const { expo, db, directory, path } = await made();
    await expect(expo.deleteDatabaseAsync('a.sqlite', directory)).rejects.toThrow('open');
    await db.closeAsync();
    expect(existsSync(path)).toBe(true);
    await expo.deleteDatabaseAsync('a.sqlite', directory);
    expect(existsSync(path)).toBe(false);
    await expect(expo.deleteDatabaseAsync('a.sqlite', directory)).rejects.toThrow('not found');
  });
});
