// Runs inside Hermes: the tests, and the roots for comparison with other platforms.

import {
  HedgerowError,
  importStore,
  live,
  liveCount,
  memory,
  open,
  repairStore,
  table,
  verifyStore,
} from 'hedgerow';
import { rowsOf, utf8, workload } from './workload.js';

const tests = [];
const test = (name, run) => tests.push([name, run]);

function equal(actual, expected) {
  const [a, b] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (a !== b) throw new Error(`${a} is not ${b}`);
}

async function codeOf(promise) {
  try {
    await promise;
  } catch (error) {
    if (!(error instanceof HedgerowError)) throw error;
    return error.detail ?? error.code;
  }
  return 'none';
}

const byKey = ([a], [b]) => (a < b ? -1 : 1);

test('roots', async () => {
  const { db, steps } = await workload({ open, storage: memory(), name: 'roots', count: 2000 });
  for (const [step, root] of steps) print(`root ${root} ${step}`);
  equal((await db.health.verify()).ok, true);
  await db.close();
});

test('rows are read as they were put', async () => {
  const storage = memory();
  const db = await open('reads', { storage, indexes: { byOwner: { path: '/owner' } } });
  const rows = rowsOf(3000);
  const result = await db.putMany(rows, { key: '/id' });
  equal(result.rows, 3000);
  equal(await db.count(), 3000);
  equal(await db.get(rows[17].id), rows[17]);
  equal(await db.getMany([rows[3].id, 'none', rows[4].id]), [rows[3], undefined, rows[4]]);
  const expected = rows.map((row) => [row.id, row]).sort(byKey);
  equal(await db.scan().toArray(), expected);
  equal(await db.scan({ reverse: true, limit: 5 }).toArray(), expected.slice(-5).reverse());
  const seen = [];
  for await (const [key] of db.scan({ prefix: 'issue/2' })) seen.push(key);
  equal(
    seen,
    expected.map(([key]) => key).filter((key) => key.startsWith('issue/2')),
  );
  const owned = await db.scan({ index: 'byOwner', prefix: '🦔' }).toArray();
  equal(owned.length, rows.filter(({ owner }) => owner === '🦔').length);
  equal(await db.count({ prefix: 'issue/' }), 3000);
  await db.delete(rows[0].id);
  equal(await db.has(rows[0].id), false);
  await db.close();
  const again = await open('reads', { storage });
  equal(await again.count(), 2999);
  equal(await again.get(rows[1].id), rows[1]);
  await again.close();
});

test('other tasks run while rows load', async () => {
  const db = await open('slices', { storage: memory() });
  let ticks = 0;
  let isLoading = true;
  const tick = () => {
    ticks += 1;
    if (isLoading) setTimeout(tick, 0);
  };
  setTimeout(tick, 0);
  const { slices } = await db.putMany(rowsOf(3000), { key: '/id' });
  isLoading = false;
  if (slices < 3 || ticks < slices / 2) throw new Error(`${ticks} ticks in ${slices} slices`);
  await db.close();
});

test('watching, snapshots, diffs', async () => {
  const db = await open('watch', { storage: memory() });
  const told = [];
  const stop = db.watch({ prefix: 'a' }, (changes) => told.push(...changes));
  await db.put('a1', 1);
  const snapshot = db.snapshot();
  await db.put('a1', 2);
  await db.put('b', 3);
  for (let at = 0; told.length < 2 && at < 1000; at++)
    await new Promise((resolve) => setTimeout(resolve, 0));
  equal(
    told.map(({ op, newValue }) => [op, newValue]),
    [
      ['insert', 1],
      ['update', 2],
    ],
  );
  stop();
  equal(await snapshot.get('a1'), 1);
  const changes = [];
  for await (const change of db.history.diff(snapshot.root, db.root)) changes.push(change.key);
  equal(changes, ['a1', 'b']);
  snapshot.close();
  await db.close();
});

const idsOf = (rows) => rows.map(({ id }) => id);
const byId = (a, b) => (a.id < b.id ? -1 : 1);

test('tables', async () => {
  const issues = table({
    key: 'id',
    indexes: { byOwner: ['owner', 'priority'], byWord: [{ words: 'title' }] },
  });
  const marks = table({ key: ['issue', 'number'], values: 'structured' });
  const db = await open('tables', { storage: memory(), tables: { issues, marks } });
  const rows = rowsOf(600);
  equal((await db.issues.putMany(rows)).rows, 600);
  equal(await db.issues.get(rows[5].id), rows[5]);
  const wanted = rows.filter(({ owner, priority }) => owner === '🦔' && priority >= 2);
  const query = db.issues.where({ owner: '🦔', priority: { gte: 2 } });
  equal(idsOf((await query.toArray()).sort(byId)), idsOf(wanted.sort(byId)));
  equal(await query.count(), wanted.length);
  const words = await db.issues.where({ title: { words: 'zoë THE' } }).toArray();
  const named = rows.filter(({ title }) => title.includes('Zoë'));
  equal(idsOf(words.sort(byId)), idsOf(named.sort(byId)));
  equal(await codeOf(db.issues.insert(rows[0])), 'exists');
  equal((await db.issues.update(rows[0].id, { priority: 99 })).priority, 99);
  const at = new Date(1754000000000);
  await db.transaction(async (tx) => {
    tx.marks.put({ issue: rows[0].id, number: 2, at, tags: new Set(['a', 'b']) });
    tx.marks.put({ issue: rows[0].id, number: 10, at, bytes: new Uint8Array([0, 255]) });
  });
  const [two, ten] = await db.marks.where({ issue: rows[0].id }).toArray();
  equal([two.number, two.at instanceof Date, [...two.tags]], [2, true, ['a', 'b']]);
  equal([ten.number, ten.at.getTime(), [...ten.bytes]], [10, at.getTime(), [0, 255]]);
  await db.close();
});

test('rows of bytes that are checked', async () => {
  const schema = {
    '~standard': {
      version: 1,
      vendor: 'test',
      validate: (value) =>
        typeof value.owner === 'string' ? { value } : { issues: [{ message: 'no owner' }] },
    },
  };
  const issues = table({ schema, key: 'id' });
  const db = await open('checked', { storage: memory(), tables: { issues } });
  const rows = rowsOf(200);
  const bytes = utf8(rows.map((row) => JSON.stringify(row)).join('\n'));
  equal((await db.issues.putMany(bytes, { format: 'ndjson' })).rows, 200);
  equal(await db.issues.get(rows[4].id), rows[4]);
  equal(await codeOf(db.issues.put({ id: 'x' })), 'value');
  await db.close();
});

test('live queries', async () => {
  const issues = table({ key: 'id', indexes: { byOwner: ['owner', 'priority'] } });
  const days = table({ key: 'id', values: 'structured' });
  const db = await open('live', { storage: memory(), tables: { issues, days } });
  await db.issues.putMany(rowsOf(100));
  await db.days.put({ id: 'a', at: new Date(0) });
  const ann = db.issues.where({ owner: 'ann' }).orderBy('priority', 'desc');
  const list = live(ann.limit(3));
  const count = liveCount(ann);
  const seen = live(db.days);
  const until = async (isDone) => {
    for (let turn = 0; turn < 1000 && !isDone(); turn++)
      await new Promise((resolve) => setTimeout(resolve, 0));
  };
  let told = 0;
  list.subscribe(() => (told += 1));
  await until(() => [list, count, seen].every((one) => one.get().status === 'ready'));
  equal(list.get().rows, await ann.limit(3).toArray());
  equal(count.get().count, await ann.count());
  equal(seen.get().rows[0].at instanceof Date, true);
  const before = list.get().rows;
  await db.issues.put({ id: 'top', owner: 'ann', priority: 1000 });
  await until(() => list.get().rows[0].id === 'top');
  equal(idsOf(list.get().rows), ['top', ...idsOf(before.slice(0, 2))]);
  equal([list.get().rows[1] === before[0], told > 0], [true, true]);
  for (const one of [list, count, seen]) one.close();
  await db.close();
});

test('parts that load later', async () => {
  const storage = memory();
  const db = await open('later', { storage });
  await db.putMany(rowsOf(500), { key: '/id' });
  const proof = await db.prove(rowsOf(1)[0].id);
  equal(proof.length > 100, true);
  const branch = await db.branches.open('side');
  await branch.put('k', 1);
  await branch.close();
  await db.branches.merge('side');
  equal(await db.get('k'), 1);
  await db.close();
  equal((await verifyStore('later', { storage })).ok, true);
  await repairStore('later', { storage });
});

test('sum trees, by hand and following rows', async () => {
  const storage = memory();
  const sums = { balances: { sum: '/cents', prefix: 'acct/' } };
  const db = await open('sums', { storage, advanced: { sums } });
  const rows = [0, 1, 2 ** 31, Number.MAX_SAFE_INTEGER].map((cents, at) => [
    `acct/${at}`,
    { cents },
  ]);
  await db.putMany(rows);
  const total = rows.reduce((sum, [, { cents }]) => sum + BigInt(cents), 0n);
  equal(String(db.sumTree('balances').root.sum), String(total));
  await db.put('acct/1', { cents: 0 });
  equal(String(db.sumTree('balances').root.sum), String(total - 1n));
  const tree = db.sumTree('by hand');
  await tree.put('leaf', { value: new Uint8Array([9]), sum: 2n ** 63n });
  equal(String((await tree.get('leaf')).sum), String(2n ** 63n));
  equal(
    await codeOf(tree.put('more', { value: new Uint8Array(), sum: 2n ** 63n })),
    'sum-overflow',
  );
  equal((await tree.prove('leaf')).length > 30, true);
  equal((await db.health.verify()).ok, true);
  await db.close();
});

test('a store leaves as bytes and comes back', async () => {
  const db = await open('leaves', { storage: memory() });
  await db.putMany(rowsOf(500), { key: '/id' });
  const parts = [];
  for await (const bytes of await db.backup.export()) parts.push(bytes.slice());
  const storage = memory();
  await importStore('copy', parts, { storage });
  const copy = await open('copy', { storage });
  equal(copy.root, db.root);
  equal(await copy.get(rowsOf(5)[4].id), rowsOf(5)[4]);
  await Promise.all([copy.close(), db.close()]);
});

test('a response without a stream, as React Native has it', async () => {
  const text = rowsOf(200).map((row) => JSON.stringify(row));
  const bytes = Uint8Array.from(unescape(encodeURIComponent(text.join('\n'))), (c) =>
    c.charCodeAt(0),
  );
  class Response {
    ok = true;
    bodyUsed = false;
    headers = { get: () => null };
    arrayBuffer = async () => bytes.buffer;
  }
  class Blob {}
  Object.assign(globalThis, { Response, Blob });
  const db = await open('response', { storage: memory() });
  await db.putMany(new Response(), { key: '/id' });
  equal(await db.count(), 200);
  equal(await db.get(rowsOf(5)[4].id), rowsOf(5)[4]);
  equal(await codeOf(db.putMany(new Blob(), { key: '/id' })), 'invalid-argument');
  await db.close();
});

test('refusals', async () => {
  equal(await codeOf(open('none')), 'invalid-argument');
  const db = await open('refused', { storage: memory() });
  equal(await codeOf(db.put('\ud800', 1)), 'key');
  equal(await codeOf(db.put('k', () => {})), 'value');
  equal(await codeOf(db.putMany([{ id: 1 }], { key: '/id' })), 'key');
  const controller = { signal: { aborted: true, addEventListener() {}, removeEventListener() {} } };
  equal(await codeOf(db.putMany(rowsOf(10), { key: '/id', signal: controller.signal })), 'aborted');
  equal(await db.count(), 0);
  await db.close();
  equal(await codeOf(db.get('k')), 'closed');
});

async function main() {
  for (const [name, run] of tests) {
    const start = Date.now();
    try {
      await run();
      print(`ok ${name} (${Date.now() - start} ms)`);
    } catch (error) {
      print(`not ok ${name}: ${error}\n${error?.stack}`);
    }
  }
  print(`ran ${tests.length}`);
}

main();
