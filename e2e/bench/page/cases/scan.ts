import type { BenchCase, Contestant, Sample, Setting } from '../bench-case.js';
import { percentile, timed } from '../measure.js';
import { fillDexie, withDexie } from '../peers/dexie.js';
import { fillStore, withStore } from '../peers/hedgerow.js';
import { fillRaw, settled, storedRows, withRaw } from '../peers/raw.js';
import { makeRows } from '../rows.js';

const WARM_PASSES = 3;

/** The first pass after opening, and the median of those that follow. */
async function passes(
  { rows }: Setting,
  pass: () => Promise<unknown[]> | unknown[],
): Promise<Sample> {
  const times: number[] = [];
  for (let count = 0; count <= WARM_PASSES; count++) {
    const { ms, result } = await timed(async () => (await pass()).length);
    if (result !== rows) throw new Error(`${result} rows of ${rows}`);
    times.push(ms);
  }
  const [first = 0, ...warm] = times;
  return { value: percentile(warm, 0.5), details: { 'first after open, ms': first } };
}

const HEDGEROW: Contestant = {
  name: 'hedgerow',
  kind: 'ours',
  prepare: fillStore,
  sample: (setting) => withStore((db) => passes(setting, () => db.scan().values().toArray())),
};

const HEDGEROW_ENTRIES: Contestant = {
  name: 'hedgerow, entries',
  kind: 'variant',
  sample: (setting) => withStore((db) => passes(setting, () => db.scan().toArray())),
};

const PARSE: Contestant = {
  name: 'JSON.parse of one text',
  kind: 'floor',
  sample: (setting) => {
    const text = JSON.stringify(makeRows(setting.rows));
    return passes(setting, () => JSON.parse(text) as unknown[]);
  },
};

const DEXIE: Contestant = {
  name: 'Dexie toArray',
  kind: 'peer',
  prepare: fillDexie,
  sample: (setting) => withDexie((db) => passes(setting, () => db.rows.toArray())),
};

const RAW: Contestant = {
  name: 'IndexedDB getAll',
  kind: 'peer',
  prepare: fillRaw,
  sample: (setting) => withRaw((db) => passes(setting, () => settled(storedRows(db).getAll()))),
};

export const SCAN: BenchCase = {
  name: 'scan',
  title: 'scan of all rows to an array of objects, in memory where there is a cache',
  unit: 'ms',
  stored: true,
  contestants: [HEDGEROW, PARSE, HEDGEROW_ENTRIES, RAW, DEXIE],
};
