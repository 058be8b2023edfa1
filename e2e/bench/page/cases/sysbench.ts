/**
 * The workload that compares SQLite with prolly-tree databases, as key/value operations: rows `{ id, k, c, pad }` under
 * their key. The page waits for each statement, and for each transaction, which is one message to the worker of SQLite
 * and one commit on either side. It leaves out statements that need secondary indexes, or sums and sorting in the
 * database.
 */
import type { Case, Contestant, Kind, Samples, Setting, Suite } from '../bench-case.js';
import { timed } from '../measure.js';
import { noFiles } from '../peers/index.js';
import { hedgerowSide, type Side, sqliteSide } from '../sysbench/sides.js';
import { type Statement, Workload } from '../sysbench/workload.js';

const POINTS = 10;

const CASES: readonly Case[] = [
  ['bulk-insert', 'all rows in one transaction'],
  ['point-select', '1,000 gets'],
  ['range-select', '100 ranges of 100 rows'],
  ['random-points', '100 times 10 random rows in one call'],
  ['read-only', '100 times 10 gets and 4 ranges'],
  ['update', '1,000 updates in one transaction'],
  ['delete-insert', '500 rows deleted and inserted in one transaction'],
  ['read-write', '100 transactions: 10 gets, 2 ranges, 2 updates, 1 delete and insert'],
  ['insert-autocommit', '200 inserts, each a commit'],
  ['update-autocommit', '200 updates, each a commit'],
  ['delete-insert-autocommit', '100 deletes and inserts, each a commit'],
  ['read-write-autocommit', '20 times what read-write does, each write a commit'],
].map(([name = '', title = '']) => ({ name: `sysbench-${name}`, title, unit: 'ms' }));

/** Returns a tenth of the rows of a full store: 10,000, as in the original. */
function rowsOf({ rows }: Setting): number {
  return Math.max(1000, Math.ceil(rows / 10));
}

async function run(side: Side, setting: Setting): Promise<Samples> {
  const rows = rowsOf(setting);
  const samples: Samples = {};
  const measure = async (name: string, work: () => Promise<unknown>) => {
    samples[`sysbench-${name}`] = { value: (await timed(work)).ms, details: { rows } };
  };
  const each = async (statements: readonly Statement[]) => {
    for (const statement of statements) await side.one(statement);
  };
  const load = new Workload(rows, 42).all();
  await measure('bulk-insert', () => side.load(load));

  const work = new Workload(rows, 43);
  const gets = work.times(1000, () => work.get());
  await measure('point-select', () => each(gets));
  const ranges = work.times(100, () => work.range());
  await measure('range-select', () => each(ranges));
  const points = work.times(100, () => work.times(POINTS, () => work.id()));
  await measure('random-points', async () => {
    for (const ids of points) await side.points(ids);
  });
  const reads = work.times(100, () => [
    ...work.times(10, () => work.get()),
    ...work.times(4, () => work.range()),
  ]);
  await measure('read-only', () => each(reads.flat()));

  const updates = work.times(1000, () => work.update());
  await measure('update', () => side.transaction(updates));
  const pairs = work.times(500, () => work.deleteAndInsert()).flat();
  await measure('delete-insert', () => side.transaction(pairs));
  const mixed = work.times(100, () => work.readWrite());
  await measure('read-write', async () => {
    for (const statements of mixed) await side.transaction(statements);
  });

  const inserts = new Workload(rows + 200, 44).all().slice(-200);
  await measure('insert-autocommit', () => each(inserts.map((row) => ({ op: 'put', row }))));
  const singles = work.times(200, () => work.update());
  await measure('update-autocommit', () => each(singles));
  const singlePairs = work.times(100, () => work.deleteAndInsert()).flat();
  await measure('delete-insert-autocommit', () => each(singlePairs));
  const singleMixed = work.times(20, () => work.readWrite()).flat();
  await measure('read-write-autocommit', () => each(singleMixed));

  const last = load.at(-1)?.id ?? '';
  if ((await side.one({ op: 'get', id: last })) === undefined) throw new Error('a row is gone');
  await side.close();
  return samples;
}

function contestant(name: string, kind: Kind, note: string, open: () => Promise<Side>): Contestant {
  const missing = kind === 'peer' ? noFiles() : undefined;
  const acts = [async (setting: Setting) => run(await open(), setting)];
  return { name, kind, note, ...(missing === undefined ? {} : { missing }), acts };
}

export const SYSBENCH: Suite = {
  name: 'sysbench',
  cases: CASES,
  contestants: [
    contestant('hedgerow', 'ours', 'relaxed', () => hedgerowSide({ durability: 'relaxed' })),
    contestant('hedgerow, strict', 'variant', 'waits for the disk', () =>
      hedgerowSide({ durability: 'strict' }),
    ),
    contestant(
      'sqlite-wasm OPFS, WAL',
      'peer',
      'synchronous=NORMAL does not wait for the disk: the durability of relaxed',
      () => sqliteSide(true),
    ),
    contestant(
      'sqlite-wasm OPFS',
      'peer',
      'synchronous=FULL waits for the disk: the durability of strict',
      () => sqliteSide(false),
    ),
  ],
};
