// Tests that abstract-level's own suite lacks; `scripts/long/foreign/abstract-level.mjs` runs that suite.

import { Buffer } from 'node:buffer';
import { expect, test, vi } from 'vitest';
import { memory, open, type Store } from '../../hedgerow/src/index.js';
import { forSeeds } from '../../hedgerow/test/support/property.js';
import { HedgerowLevel } from '../src/abstract-level.js';

let made = 0;
const opened = (): Promise<Store> => open(`level ${made++}`, { storage: memory() });

const binary = { keyEncoding: 'view', valueEncoding: 'view' } as const;

test('random calls return the rows of a sorted list', async () => {
  await forSeeds(8, async (from, _, begin) => {
    const db = await opened();
    const level = new HedgerowLevel<Uint8Array, Uint8Array>(db, { ...binary, prefix: 'p' });
    const key = () =>
      Uint8Array.from({ length: from.below(4) }, () => from.pick([0, 1, 127, 128, 255]));
    const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
    const model = new Map<string, string>();
    // Calls must not see the rows around the prefix.
    await db.putMany([
      ['o', 1],
      ['q', 2],
    ]);
    for (let step = 0; step < 100; step++) {
      const operations = Array.from({ length: from.below(4) }, () =>
        from.next() < 0.7
          ? ({ type: 'put', key: key(), value: key() } as const)
          : ({ type: 'del', key: key() } as const),
      );
      await level.batch(operations);
      for (const one of operations) {
        if (one.type === 'put') model.set(hex(one.key), hex(one.value));
        else model.delete(hex(one.key));
      }
      const [low, high, target, reverse] = [key(), key(), key(), from.next() < 0.5];
      const isOpen = from.next() < 0.5;
      const range = isOpen ? { gt: low, lte: high } : { gte: low, lt: high };
      const limit = from.next() < 0.3 ? from.below(3) : -1;
      begin({ range, reverse, limit, target });
      // Hexadecimal digits sort as the bytes do.
      const isIn = ([at]: [string, string]) =>
        isOpen ? at > hex(low) && at <= hex(high) : at >= hex(low) && at < hex(high);
      const sorted = [...model].filter(isIn).sort(([a], [b]) => (a < b ? -1 : 1));
      if (reverse) sorted.reverse();
      const wanted = limit < 0 ? sorted : sorted.slice(0, limit);
      const found = await level.iterator({ ...range, reverse, limit }).all();
      expect(found.map(([at, value]) => [hex(at), hex(value)])).toEqual(wanted);

      const iterator = level.iterator({ ...range, reverse });
      if (from.next() < 0.5) await iterator.next();
      iterator.seek(target);
      const rest = await iterator.nextv(3);
      await iterator.close();
      // There are no rows outside of the range.
      const after = sorted.filter(
        ([at]) => isIn([hex(target), '']) && (reverse ? at <= hex(target) : at >= hex(target)),
      );
      expect(rest.map(([at]) => hex(at))).toEqual(after.slice(0, 3).map(([at]) => at));

      if (from.next() < 0.9) continue;
      await level.clear({ ...range, reverse, limit });
      for (const [at] of wanted) model.delete(at);
    }
    expect(await db.count({ prefix: 'p' })).toBe(model.size);
    expect(await db.getMany(['o', 'q'])).toEqual([1, 2]);
    await db.close();
  });
});

test('ASCII text is stored as it is, and other text byte by byte', async () => {
  const db = await opened();
  const level = new HedgerowLevel(db, { prefix: 'p/' });
  await level.batch([
    { type: 'put', key: 'a', value: 'x' },
    { type: 'put', key: 'é', value: 'y' },
  ]);
  expect(await db.scan().keys().toArray()).toEqual(['p/a', 'p/Ã©']);
  expect(await level.get('é')).toBe('y');
  expect(await db.get('p/a')).toEqual(Uint8Array.of(120));
});

test('a batch is one commit', async () => {
  const db = await opened();
  const level = new HedgerowLevel(db);
  await level.put('b', 'old');
  const before = db.root;
  await level.batch([
    { type: 'put', key: 'a', value: '1' },
    { type: 'del', key: 'b' },
    { type: 'put', key: 'c', value: '2' },
  ]);
  // With a commit between the two, the diff would begin at that commit.
  const done = await db.history.commit((tx) => tx.put('d', 1));
  const changes = await db.history.diff(before, done.before).toArray();
  expect(changes.map(({ op, key }) => `${op} ${key}`)).toEqual([
    'insert a',
    'delete b',
    'insert c',
  ]);
  const refused = level.batch([
    { type: 'put', key: 'e', value: '1' },
    { type: 'put', key: 'x'.repeat(2000), value: '2' },
  ]);
  await expect(refused).rejects.toMatchObject({ code: 'LEVEL_INVALID_KEY' });
  expect(await level.has('e')).toBe(false);
});

test('a row put as JSON is read as JSON', async () => {
  const db = await opened();
  await db.put('row', { a: 1 });
  const level = new HedgerowLevel<string, unknown>(db, { valueEncoding: 'json' });
  expect(await level.get('row')).toEqual({ a: 1 });
  expect(await level.values().all()).toEqual([{ a: 1 }]);
});

test('keys have the limit of the store, and bytes from 0x80 on count twice', async () => {
  const level = new HedgerowLevel<Uint8Array, string>(await opened(), { keyEncoding: 'view' });
  await level.put(new Uint8Array(1024), 'low');
  await level.put(new Uint8Array(512).fill(255), 'high');
  for (const key of [new Uint8Array(1025), new Uint8Array(513).fill(128)]) {
    const fault = expect.objectContaining({
      code: 'LEVEL_INVALID_KEY',
      message: expect.stringContaining('counts twice'),
      cause: expect.objectContaining({ code: 'invalid-argument', detail: 'key' }),
    });
    await expect(level.put(key, 'x')).rejects.toThrow(fault);
    await expect(level.get(key)).rejects.toThrow(fault);
    expect(() => level.iterator({ gte: key })).toThrow(fault);
  }
  expect(await level.keys().all()).toHaveLength(2);
});

test('an iterator with a limit reads no more rows, also after seek', async () => {
  const db = await opened();
  const level = new HedgerowLevel(db);
  await level.batch(['a', 'b', 'c', 'd'].map((key) => ({ type: 'put', key, value: key })));
  const snapshot = db.snapshot();
  const scan = vi.spyOn(snapshot, 'scan');
  vi.spyOn(db, 'snapshot').mockReturnValue(snapshot);
  const iterator = level.keys({ limit: 2, reverse: true });
  expect(await iterator.next()).toBe('d');
  iterator.seek('b');
  // One of the two rows was read before.
  expect(await iterator.nextv(5)).toEqual(['b']);
  await iterator.close();
  expect(scan.mock.calls.map(([options]) => options?.limit)).toEqual([2, 1]);
});

test('errors of the store have a cause and codes of Level', async () => {
  const db = await opened();
  const level = new HedgerowLevel(db);
  await level.open();
  const aborter = new AbortController();
  const iterator = level.iterator({ signal: aborter.signal });
  aborter.abort();
  await expect(iterator.next()).rejects.toMatchObject({
    code: 'LEVEL_ABORTED',
    name: 'AbortError',
  });
  await iterator.close();
  await db.close();
  const closed = { code: 'LEVEL_DATABASE_NOT_OPEN', cause: { code: 'closed' } };
  await expect(level.put('a', 'b')).rejects.toMatchObject(closed);
  await expect(level.get('a')).rejects.toMatchObject(closed);
  await expect(level.batch([{ type: 'del', key: 'a' }])).rejects.toMatchObject(closed);
});

test('a store that does not open leaves the database closed, and can be opened later', async () => {
  let isThere = false;
  const level = new HedgerowLevel(async () => {
    if (!isThere) throw new Error('not yet');
    return opened();
  });
  await expect(level.open()).rejects.toMatchObject({
    code: 'LEVEL_DATABASE_NOT_OPEN',
    cause: { message: 'not yet' },
  });
  isThere = true;
  await level.open();
  await level.put('a', 'b');
  expect(await level.get('a')).toBe('b');
});

test('the store stays open, with its rows, when the database is closed', async () => {
  const db = await opened();
  const level = new HedgerowLevel(db);
  await level.put('a', 'b');
  await level.close();
  expect(await db.count()).toBe(1);
  await level.open();
  expect(await level.get('a')).toBe('b');
});

test('snapshots of the database and of iterators release their commits', async () => {
  const db = await opened();
  const level = new HedgerowLevel(db);
  await level.put('a', '1');
  const snapshot = level.snapshot();
  const iterator = level.iterator();
  await level.put('a', '2');
  expect(await level.get('a', { snapshot })).toBe('1');
  expect(await iterator.next()).toEqual(['a', '1']);
  expect(await level.get('a')).toBe('2');
  await iterator.close();
  await snapshot.close();
  await expect(iterator.next()).rejects.toMatchObject({ code: 'LEVEL_ITERATOR_NOT_OPEN' });
  await expect(level.get('a', { snapshot })).rejects.toMatchObject({
    code: 'LEVEL_SNAPSHOT_NOT_OPEN',
  });
});

test('databases on branches are separate until they are merged', async () => {
  const db = await opened();
  const level = new HedgerowLevel(db);
  await level.put('a', '1');
  const draft = new HedgerowLevel(await db.branches.open('draft'));
  await draft.sublevel('s').put('b', '2');
  expect(await level.keys().all()).toEqual(['a']);
  await db.branches.merge('draft');
  expect(await level.sublevel('s').get('b')).toBe('2');
});
