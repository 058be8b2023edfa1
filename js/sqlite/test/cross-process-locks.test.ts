/** Locks among processes: other processes may remove the file of a holder. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ProcessLocks } from '../src/cross-process-locks.js';
import { connectionTo, folder } from './support/sql-storages.js';
import { Sqlite } from './support/sqlite.mjs';

const ENDINGS = ['', '-journal', '-wal', '-shm'];

it("a holder's file that another process has removed is no failure", async () => {
  const place = folder();
  const opened: string[] = [];
  const locks = new ProcessLocks(async (file) => {
    const path = join(place, file);
    const remove = () => {
      for (const ending of ENDINGS) rmSync(path + ending, { force: true });
    };
    const connection = connectionTo(path, remove);
    opened.push(file);
    if (file === 'ended.holder') remove();
    return connection;
  });
  await locks.query();
  const rows = new Sqlite(join(place, 'locks.sqlite'));
  rows.exec("INSERT INTO lock VALUES ('ended.holder/1', 'ended.holder', 'a', 0)");
  rows.close();
  expect(await locks.query()).toEqual({ held: [] });
  expect(opened).toContain('ended.holder');
  expect(await locks.request('a', { mode: 'exclusive' }, async () => 'mine')).toBe('mine');
});
