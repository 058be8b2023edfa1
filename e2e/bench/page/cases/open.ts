import type { BenchCase, Sample, Setting } from '../bench-case.js';
import { timed } from '../measure.js';
import { fillDexie, openDexie } from '../peers/dexie.js';
import { fillStore, openStore } from '../peers/hedgerow.js';
import { fillRaw, openRaw, settled, storedRows } from '../peers/raw.js';
import { randomIds } from '../rows.js';

/** Opens and gets one row in a page that did neither before, and then once more. */
async function openAndGet<Database extends { close(): unknown }>(
  { rows }: Setting,
  open: () => Promise<Database>,
  get: (db: Database, id: string) => PromiseLike<unknown>,
): Promise<Sample> {
  const [firstId = '', secondId = ''] = randomIds(2, rows, 6);
  const once = async (id: string) => {
    const { ms, result: opened } = await timed(async () => {
      const startMs = performance.now();
      const db = await open();
      const openMs = performance.now() - startMs;
      if ((await get(db, id)) === undefined) throw new Error(`${id} is not there`);
      return { db, openMs };
    });
    await opened.db.close();
    return { ms, openMs: opened.openMs };
  };
  const first = await once(firstId);
  const second = await once(secondId);
  return {
    value: first.ms,
    details: {
      'of that open, ms': first.openMs,
      'second time in the page, ms': second.ms,
      'of that open (second), ms': second.openMs,
    },
  };
}

export const OPEN: BenchCase = {
  name: 'open',
  title: 'open + first get in a page just loaded (compiling the wasm included)',
  unit: 'ms',
  stored: true,
  contestants: [
    {
      name: 'hedgerow',
      kind: 'ours',
      prepare: fillStore,
      sample: (setting) =>
        openAndGet(
          setting,
          () => openStore(),
          (db, id) => db.get(id),
        ),
    },
    {
      name: 'IndexedDB',
      kind: 'floor',
      prepare: fillRaw,
      sample: (setting) =>
        openAndGet(setting, openRaw, (db, id) => settled(storedRows(db).get(id))),
    },
    {
      name: 'Dexie',
      kind: 'peer',
      prepare: fillDexie,
      sample: (setting) => openAndGet(setting, openDexie, (db, id) => db.rows.get(id)),
    },
  ],
};
