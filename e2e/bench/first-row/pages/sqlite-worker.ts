/** SQLite's own build, on its OPFS pool, as its documentation has it. */
import sqlite3InitModule from '@sqlite.org/sqlite-wasm';
import type { Row } from '../../page/rows.js';

const opening = (async () => {
  const sqlite3 = await sqlite3InitModule();
  const pool = await sqlite3.installOpfsSAHPoolVfs({});
  const db = new pool.OpfsSAHPoolDb('/first-row.sqlite3');
  db.exec('CREATE TABLE IF NOT EXISTS kv(key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID');
  return db;
})();

const PUT = 'INSERT OR REPLACE INTO kv VALUES(?, ?)';

interface Call {
  readonly name: keyof typeof calls;
  readonly argument: never;
}

const calls = {
  fill: async (rows: readonly Row[]) => {
    const db = await opening;
    const put = db.prepare(PUT);
    db.transaction(() => {
      for (const row of rows) put.bind([row.id, JSON.stringify(row)]).stepReset();
    });
    put.finalize();
  },
  first: async (id: string) =>
    (await opening).selectValue('SELECT value FROM kv WHERE key = ?', [id]),
  write: async (row: Row) => {
    (await opening).exec({ sql: PUT, bind: [row.id, JSON.stringify(row)] });
  },
};

addEventListener('message', async ({ data }: MessageEvent<Call>) => {
  try {
    postMessage({ result: await calls[data.name](data.argument) });
  } catch (cause) {
    postMessage({ error: String(cause) });
  }
});
