/** An import of many rows that Dexie has written, cut off again and again. */
import 'fake-indexeddb/auto';
import { Dexie } from 'dexie';
import { expect, test } from 'vitest';
import { memory, open, rowType, table } from '../../hedgerow/src/index.js';
import { isDeep } from '../../hedgerow/test/support/property.js';
import { fromDexie, type ImportFromProgress, importFrom } from '../src/index.js';

interface Task {
  id: number;
  title: string;
  isDone: boolean;
}

const ROWS = isDeep ? 50_000 : 20_000;
const CUTS = isDeep ? 8 : 3;
const tasks = table({ schema: rowType<Task>(), key: ['id'], indexes: { byTitle: ['title'] } });

test('many rows from Dexie are each read once and stored once', async () => {
  const old = new Dexie('many');
  old.version(1).stores({ tasks: '++id' });
  const rows = Array.from({ length: ROWS }, (_, at) => ({
    title: `Task ${at}`,
    isDone: at % 7 === 0,
  }));
  await old.table('tasks').bulkAdd(rows);
  const storage = memory();
  const source = fromDexie<Task>({ database: 'many', table: 'tasks' });
  let mapped = 0;
  let cuts = 0;
  for (;;) {
    const db = await open('app', { storage, tables: { tasks } });
    const stop = new AbortController();
    const onProgress = ({ phase }: ImportFromProgress) => {
      if (phase === 'reading' && cuts < CUTS) stop.abort();
    };
    const map = (task: Task) => {
      mapped += 1;
      return task;
    };
    const { signal } = stop;
    const result = await importFrom(source, db.tasks, {
      map,
      signal,
      onProgress,
      verify: false,
    }).catch((cause) => cause);
    if (result.code === 'aborted') {
      cuts += 1;
      await db.close();
      continue;
    }
    expect(result).toMatchObject({ status: 'imported', rows: ROWS, applied: ROWS, refused: 0 });
    expect([cuts, await db.tasks.count()]).toEqual([CUTS, ROWS]);
    // Committed rows are not read again; each call loses at most one batch.
    expect(mapped).toBeLessThanOrEqual(ROWS + CUTS * 4000);
    const again = await importFrom(source, db.tasks, { again: true });
    expect(again).toMatchObject({ rows: ROWS, applied: 0, changedMeanwhile: 0, verified: true });
    expect(await db.tasks.at(ROWS - 1)).toEqual({
      id: ROWS,
      title: `Task ${ROWS - 1}`,
      isDone: (ROWS - 1) % 7 === 0,
    });
    await db.close();
    break;
  }
  old.close();
});
