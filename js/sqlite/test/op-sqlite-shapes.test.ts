/**
 * The properties of op-sqlite that the adapter needs, version by version. The stand-ins have them, and so has the
 * published package: `node scripts/long/op-sqlite.mjs`.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { OpSqlite } from '../src/op-sqlite-driver.js';
import { isRawAlone } from './support/op-sqlite-shapes.js';
import { folder, nodeBuildOf, OP_VERSIONS, opSqliteOf } from './support/sql-storages.js';

type Half = 'phone' | 'node';
const halves: [string, string, Half, () => Promise<OpSqlite>][] = OP_VERSIONS.flatMap((version) => [
  [`op-sqlite ${version}`, version, 'phone', () => opSqliteOf(version)],
  [`the Node build of ${version}`, version, 'node', () => nodeBuildOf(version)],
]);

describe.each(halves)('%s', (_, version, half, load) => {
  const made = async () => {
    const location = folder();
    const db = (await load()).open({ name: 'a.sqlite', location });
    await db.execute('CREATE TABLE t (id INTEGER PRIMARY KEY, b BLOB, text TEXT NOT NULL)');
    return { db, path: join(location, 'a.sqlite') };
  };

  it('returns rows as arrays, alone before version 17', async () => {
    const { db } = await made();
    await db.executeBatch([['INSERT INTO t VALUES (?, ?, ?)', [7, null, 'seven']]]);
    const result = await db.executeRaw('SELECT text, id, b FROM t WHERE id = ?', [7]);
    expect(Array.isArray(result)).toBe(isRawAlone(version));
    expect('rawRows' in result ? result.rawRows : result).toEqual([['seven', 7, null]]);
    if ('rawRows' in result) {
      expect(result).toMatchObject({ columnNames: ['text', 'id', 'b'] });
    }
    db.close();
  });

  it('takes buffers for bytes, and returns buffers on phones, views in Node', async () => {
    const { db } = await made();
    const bytes = new Uint8Array([1, 0, 255]);
    const insert = 'INSERT INTO t VALUES (?, ?, ?)';
    await db.executeBatch([
      [insert, [1, bytes.buffer, '']],
      [insert, [2, new ArrayBuffer(0), '']],
    ]);
    const result = await db.executeRaw('SELECT b FROM t ORDER BY id');
    const blobs = ('rawRows' in result ? result.rawRows : result).map(([blob]) => blob);
    expect(blobs.map((blob) => blob instanceof ArrayBuffer)).toEqual(
      Array(2).fill(half === 'phone'),
    );
    const read = blobs.map((blob) => [...new Uint8Array(blob as ArrayBuffer)]);
    expect(read).toEqual([[1, 0, 255], []]);
    db.close();
  });

  it('makes a batch whole or not at all, one after the other, and reports the error of SQLite', async () => {
    const { db } = await made();
    const insert = 'INSERT INTO t VALUES (?, ?, ?)';
    const [good, bad, next] = await Promise.allSettled([
      db.executeBatch([[insert, [1, null, 'a']]]),
      db.executeBatch([
        [insert, [2, null, 'b']],
        [insert, [3, null, null]],
      ]),
      db.executeBatch([[insert, [4, null, 'd']]]),
    ]);
    expect([good.status, bad.status, next.status]).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    const { reason } = bad as PromiseRejectedResult;
    expect(String(reason)).toContain('NOT NULL constraint failed: t.text');
    const result = await db.executeRaw('SELECT id FROM t ORDER BY id');
    expect('rawRows' in result ? result.rawRows : result).toEqual([[1], [4]]);
    db.close();
  });

  it('rejects bad calls, and deletes opened files', async () => {
    const { db, path } = await made();
    await expect(db.execute('SELECT missing')).rejects.toThrow('no such column: missing');
    await expect(db.executeRaw('SELECT missing')).rejects.toThrow('no such column: missing');
    expect(existsSync(path)).toBe(true);
    db.delete();
    expect(existsSync(path)).toBe(false);
  });
});
