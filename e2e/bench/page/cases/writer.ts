/** Puts rows one by one: buffered without a promise, and with a commit awaited for each. */
import type { Contestant, Sample, Setting, Suite } from '../bench-case.js';
import { timed } from '../measure.js';
import { openStore } from '../peers/hedgerow.js';
import { makeRows, type Row } from '../rows.js';

type Store = Awaited<ReturnType<typeof openStore>>;

/** Awaited one by one, all rows would take minutes. */
const AWAITED_ROWS = 2000;

async function written(store: Store, rows: readonly Row[]): Promise<number> {
  const writer = store.writer();
  for (const row of rows) if (!writer.tryPut(row.id, row)) await writer.put(row.id, row);
  await writer.close();
  return rows.length;
}

async function awaited(store: Store, rows: readonly Row[]): Promise<number> {
  const few = rows.slice(0, AWAITED_ROWS);
  for (const row of few) await store.put(row.id, row);
  return few.length;
}

async function eachAwaited(store: Store, rows: readonly Row[]): Promise<number> {
  const writer = store.writer();
  for (const row of rows) await writer.put(row.id, row);
  await writer.close();
  return rows.length;
}

function contestant(
  name: string,
  kind: Contestant['kind'],
  put: (store: Store, rows: readonly Row[]) => Promise<number>,
): Contestant {
  const act = async ({ rows: count }: Setting): Promise<{ writer: Sample }> => {
    const rows = makeRows(count);
    const store = await openStore();
    const { ms, result } = await timed(() => put(store, rows));
    if ((await store.count()) !== result) throw new Error('not all rows are there');
    await store.close();
    return { writer: { value: (1000 * result) / ms } };
  };
  return { name, kind, acts: [act] };
}

export const WRITER: Suite = {
  name: 'writer',
  cases: [{ name: 'writer', title: 'rows put one by one', unit: 'per second' }],
  contestants: [
    contestant('hedgerow, tryPut', 'ours', written),
    contestant('hedgerow, await writer.put', 'variant', eachAwaited),
    contestant('hedgerow, await put', 'variant', awaited),
  ],
};
