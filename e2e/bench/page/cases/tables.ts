/** Compares tables with the calls of the store that they make: the cost of the layer. */
import { rowType, type Store, type Table, table } from 'hedgerow';
import type { Act, Contestant, Samples, Suite } from '../bench-case.js';
import { percentile, settle, timed } from '../measure.js';
import { openStore } from '../peers/hedgerow.js';
import { random } from '../random.js';
import { makeRows, type Row } from '../rows.js';

/** A row whose time is a date, as in most apps; plain JSON has a number. */
type Dated = Omit<Row, 'modified'> & { readonly modified: Date };

const GETS = 20_000;
const PUTS = 300;
const QUERIES = 300;
const PAGE = 20;

/** The same calls of a table and of a store without one. */
interface Calls {
  load(rows: readonly object[]): Promise<unknown>;
  loadBytes(lines: Blob): Promise<unknown>;
  put(row: object): Promise<void>;
  get(id: string): Promise<unknown>;
  all(): Promise<readonly unknown[]>;
  newest(): Promise<readonly unknown[]>;
  clear(): Promise<unknown>;
  close(): Promise<void>;
}

const prefix = 'issues/';
const open = { index: 'issues.byState', equals: ['open'], reverse: true, limit: PAGE };

async function openPlain(): Promise<Calls> {
  const byState = { path: ['/status', '/modified'], prefix, nulls: true };
  const db: Store = await openStore({ indexes: { 'issues.byState': byState } });
  return {
    load: (rows) => db.putMany(rows, { key: '/id', prefix }),
    loadBytes: (lines) => db.putMany(lines, { key: '/id', prefix }),
    put: (row) => db.put(prefix + (row as Row).id, row),
    get: (id) => db.get(prefix + id),
    all: () => db.scan({ prefix }).values().toArray(),
    newest: () => db.scan(open).values().toArray(),
    clear: () => db.deleteMany({ prefix }),
    close: () => db.close(),
  };
}

const indexes = { byState: ['status', 'modified'] } as const;
const plain = table({ schema: rowType<Row>(), key: 'id', indexes });
const structured = table({ schema: rowType<Dated>(), key: 'id', values: 'structured', indexes });

async function openTable(issues: Table<Row> | Table<Dated>): Promise<Calls> {
  const { open } = await import('hedgerow');
  // One type for both tables: the case makes rows of the right kind.
  const db = await open('bench', { tables: { issues: issues as typeof plain } });
  const newest = db.issues.where({ status: 'open' }).orderBy('modified', 'desc').limit(PAGE);
  return {
    load: (rows) => db.issues.putMany(rows as readonly Row[]),
    loadBytes: (lines) => db.issues.putMany(lines),
    put: (row) => db.issues.put(row as Row),
    get: (id) => db.issues.get(id),
    all: () => db.issues.toArray(),
    newest: () => newest.toArray(),
    clear: () => db.issues.clear(),
    close: () => db.close(),
  };
}

/** Times `count` calls, each awaited. */
async function each(count: number, call: (at: number) => Promise<unknown>): Promise<number[]> {
  const times: number[] = [];
  await settle();
  for (let at = 0; at < count; at++) {
    const startMs = performance.now();
    await call(at);
    times.push(performance.now() - startMs);
  }
  return times;
}

function actOf(openCalls: () => Promise<Calls>, isDated: boolean): Act {
  return async ({ rows: count, quick }) => {
    const rows: object[] = isDated
      ? makeRows(count).map((row) => ({ ...row, modified: new Date(row.modified) }))
      : makeRows(count);
    const ids = rows.map((row) => (row as Row).id);
    const samples: Samples = {};
    const calls = await openCalls();
    const lines = new Blob(makeRows(count).map((row) => `${JSON.stringify(row)}\n`));
    const { ms: bytesMs } = await timed(() => calls.loadBytes(lines));
    if (!isDated) samples['table-bytes'] = { value: bytesMs };
    await calls.clear();
    const { ms } = await timed(() => calls.load(rows));
    samples['table-load'] = { value: ms };
    const next = random(7);
    const pick = () => ids[Math.floor(next() * count)] as string;
    const gets = quick ? 1000 : GETS;
    const { ms: getMs } = await timed(async () => {
      for (let at = 0; at < gets; at++) await calls.get(pick());
    });
    samples['table-get'] = { value: (gets / getMs) * 1000 };
    const { ms: allMs, result } = await timed(() => calls.all());
    if (result.length !== count) throw new Error(`${result.length} rows of ${count}`);
    samples['table-scan'] = { value: allMs };
    const queries = await each(quick ? 20 : QUERIES, async () => {
      if ((await calls.newest()).length !== PAGE) throw new Error('the page is not full');
    });
    samples['table-query'] = { value: percentile(queries, 0.5) };
    const puts = await each(quick ? 20 : PUTS, () => {
      const row = rows[Math.floor(next() * count)] as object;
      return calls.put({ ...row, title: `changed ${next()}` });
    });
    samples['table-put'] = {
      value: percentile(puts, 0.5),
      details: { 'p99, ms': percentile(puts, 0.99) },
    };
    await calls.close();
    return samples;
  };
}

const noBytes = { 'table-bytes': 'a JSON response has no dates' };

const contestant = (kind: Contestant['kind'], name: string, act: Act): Contestant => ({
  name,
  kind,
  acts: [act],
});

export const TABLES: Suite = {
  name: 'tables',
  mostRows: 100_000,
  cases: [
    { name: 'table-load', title: 'a load of objects into a table with an index', unit: 'ms' },
    { name: 'table-bytes', title: 'a load of NDJSON into it', unit: 'ms' },
    { name: 'table-put', title: 'one row put, p50', unit: 'ms' },
    { name: 'table-get', title: 'rows got, each awaited', unit: 'per second' },
    { name: 'table-scan', title: 'all rows', unit: 'ms' },
    { name: 'table-query', title: 'the 20 newest open rows, by the index, p50', unit: 'ms' },
  ],
  contestants: [
    contestant(
      'ours',
      'a table',
      actOf(() => openTable(plain), false),
    ),
    {
      ...contestant(
        'variant',
        'a table of structured rows',
        actOf(() => openTable(structured), true),
      ),
      cannot: noBytes,
      note: 'Each row has a Date.',
    },
    contestant('variant', 'the store itself', actOf(openPlain, false)),
  ],
};
