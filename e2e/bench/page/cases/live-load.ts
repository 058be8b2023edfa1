/**
 * Measures the time until a list and a count show the rows of a load: mounted before the load, or after it. Next to them it
 * measures the load alone. Run it with `--rows 50000`, too.
 */
import type { Store } from 'hedgerow';
import type { Sample, Samples, Setting, Suite } from '../bench-case.js';
import { settle } from '../measure.js';
import { openStore } from '../peers/hedgerow.js';
import { type Row, rowsInTurn } from '../rows.js';

const ROWS_SHOWN = 50;

/** Mounts a list and a count; the promise resolves when they show so many rows. */
async function mount(store: Store, rows: number): Promise<Promise<void>> {
  const { live, liveCount } = await import('hedgerow');
  const list = live<Row>(store, { limit: ROWS_SHOWN });
  const count = liveCount(store);
  const shown = Math.min(rows, ROWS_SHOWN);
  return new Promise((resolve) => {
    const look = () => {
      if (list.get().rows.length < shown || count.get().count !== rows) return;
      list.close();
      count.close();
      resolve();
    };
    list.subscribe(look);
    count.subscribe(look);
    look();
  });
}

async function loaded(rows: number, shownWhen: 'alone' | 'before' | 'after'): Promise<Sample> {
  const store = await openStore();
  await settle();
  const shown = shownWhen === 'before' ? mount(store, rows) : undefined;
  await settle();
  const startMs = performance.now();
  await store.putMany(rowsInTurn(rows), { key: '/id' });
  const loadMs = performance.now() - startMs;
  await (shownWhen === 'after' ? mount(store, rows) : shown);
  const shownMs = performance.now() - startMs;
  const { name } = store;
  await store.close();
  const { destroy } = await import('hedgerow');
  await destroy(name);
  return { value: shownMs, details: { 'after the load, ms': shownMs - loadMs } };
}

async function loading({ rows }: Setting): Promise<Samples> {
  return {
    'live-load-alone': await loaded(rows, 'alone'),
    'live-load-before': await loaded(rows, 'before'),
    'live-load-after': await loaded(rows, 'after'),
  };
}

const titles = {
  'live-load-alone': 'a load alone',
  'live-load-before': 'a load until a list and a count that were mounted before it show its rows',
  'live-load-after': 'a load until a list and a count that are mounted after it show its rows',
};

export const LIVE_LOAD: Suite = {
  name: 'live-load',
  cases: Object.entries(titles).map(([name, title]) => ({ name, title, unit: 'ms' })),
  contestants: [{ name: 'hedgerow', kind: 'ours', acts: [loading] }],
};
