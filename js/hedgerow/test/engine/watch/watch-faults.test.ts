/** Watches when the core traps, storage fails, or chunks are damaged or collected. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { HedgerowError, memory, open } from '../../../src/index.js';
import { faulty } from '../../support/doubles/faulty-storage.js';
import { watched } from '../../support/doubles/watched-storage.js';
import { type Entry, expectSame, failure } from '../../support/models/store-model.js';
import { partlyNoise } from '../../support/noise.js';
import { isDeep } from '../../support/property.js';
import { trapIn, trapped } from '../../support/trapping.js';
import { Copy, handles, rest, until } from '../../support/watching.js';

const rows = (count: number, value: unknown = 0, length = 100): Entry[] =>
  Array.from({ length: count }, (_, at) => [
    `k${String(at).padStart(6, '0')}`,
    { at, value, text: `${value} ${partlyNoise(at, length)}` },
  ]);

const MANY = isDeep ? rows(20_000) : rows(8000, 0, 300);
const ROUNDS = isDeep ? 5 : 3;

beforeEach(() => trapped.clear());
afterEach(() => {
  trapIn(Number.POSITIVE_INFINITY);
  vi.restoreAllMocks();
});

describe('after a trap', () => {
  it.each(['diff', 'step', 'open_view', 'close_view', 'free'])(
    'in `%s` watching continues from the same root',
    async (name) => {
      const db = await open('test', { storage: memory() });
      await db.putMany(rows(2000));
      const copy = new Copy(rows(2000));
      db.watch({}, copy.take);
      await db.put('k000100', 1);
      await until(() => copy.calls === 1);
      for (let round = 0; round < ROUNDS; round++) {
        // The commit succeeds, and the diff after it traps.
        await db.putMany(rows(500, round));
        trapIn(1 + round, name);
        await rest(round);
        await db.put('other', round).catch(() => {});
        const expected = (await db
          .scan()
          .toArray()
          .catch(() => db.scan().toArray())) as Entry[];
        await copy.becomes(expected);
        trapIn(Number.POSITIVE_INFINITY);
      }
      expect(trapped.get(name)).toBeGreaterThan(0);
    },
  );

  it('the rows of a first call are read again', async () => {
    const db = await open('test', { storage: memory() });
    await db.putMany(rows(5000));
    const copy = new Copy();
    trapIn(2, 'step');
    db.watch({}, copy.take, { initial: true });
    await copy.becomes(rows(5000));
    expect(trapped.get('step')).toBe(1);
    await db.put('k1', 1);
    await copy.becomes([...rows(5000), ['k1', 1]]);
  });
});

describe('when storage fails', () => {
  it('changes that could not be read are reported later', async () => {
    const storage = faulty(memory());
    const writing = await open('test', { storage });
    await writing.putMany(MANY);
    await writing.close();
    const db = await open('test', { storage, advanced: { cacheBytes: 0 } });
    const copy = new Copy();
    const error = new HedgerowError('unavailable/disconnected', 'not now');
    storage.fail({ call: 'read', at: 1, lasting: true, when: 'before', error });
    db.watch({}, copy.take, { initial: true });
    await rest();
    expect(copy.calls).toBe(0);
    storage.heal();
    await copy.becomes(MANY);
    await db.close();
  });

  it('a watch of damaged chunks ends, and the others continue', async () => {
    const storage = watched(memory());
    const writing = await open('test', { storage });
    await writing.putMany(rows(20_000));
    await writing.close();
    const reported = vi.spyOn(console, 'error').mockImplementation(() => {});
    // Segments with leaves only; some of them contain the first rows.
    const [first] = [...storage.stored.keys()];
    const segment = storage.stored.get(first as number);
    segment?.segmentBytes.fill(0x55, 20_000, 22_000);
    const db = await open('test', { storage, advanced: { cacheBytes: 0 } });
    const [damaged, sound] = [new Copy([]), new Copy([])];
    const onError = vi.fn();
    db.watch({ lt: 'k010000' }, damaged.take, { onError });
    db.watch({ lt: 'k010000' }, damaged.take);
    db.watch({ gte: 'z' }, sound.take);
    await db.put('z', 1);
    await until(() => sound.calls === 1);
    // The diff of all rows reads the damaged chunk.
    await db.deleteMany({ lt: 'k010000' });
    await until(() => onError.mock.calls.length === 1);
    expect(onError).toHaveBeenCalledWith(failure('corrupt-chunk'));
    await until(() => reported.mock.calls.length === 1);
    expect(reported).toHaveBeenCalledWith(failure('corrupt-chunk'));
    await db.put('z', 2);
    await until(() => sound.calls === 2);
    expect([damaged.calls, onError.mock.calls.length]).toEqual([0, 1]);
    await db.close();
  });
});

describe('a collection', () => {
  it('keeps chunks that a slow watch still needs', async () => {
    const [one, other] = await handles(2);
    await one.putMany(rows(3000));
    const before = (await other.scan().toArray()) as Entry[];
    const [copy, fast] = [new Copy(before), new Copy(before)];
    let go = () => {};
    other.watch({}, (...told) => {
      copy.take(...told);
      return new Promise<void>((resolve) => {
        go = resolve;
      });
    });
    other.watch({}, fast.take);
    await one.put('k000001', 'first');
    await until(() => copy.calls === 1);
    for (let round = 1; round < 4; round++) {
      await one.putMany(rows(3000, round));
      await one.health.compact();
    }
    // All changes are in one call only if the handle has gathered the last of them.
    await fast.becomes(rows(3000, 3));
    expect(copy.calls).toBe(1);
    go();
    await copy.becomes(rows(3000, 3));
    expect(copy.calls).toBe(2);
    await Promise.all([one.close(), other.close()]);
  });

  it('deletes chunks that no watch needs any more', async () => {
    const db = await open('test', { storage: memory() });
    const copy = new Copy();
    const stop = db.watch({}, copy.take, { initial: true });
    for (let round = 0; round < 4; round++) await db.putMany(rows(10_000, round));
    await copy.becomes(rows(10_000, 3));
    // Its watch stands at the head once the callback has returned.
    await rest();
    await db.health.compact();
    const { storedBytes, liveBytes } = await db.health.stats();
    expect(storedBytes).toBeLessThan(1.2 * liveBytes);
    stop();
  });
});

describe('changes since a root', () => {
  it('reach up to the head at the time of the read, also from the empty store', async () => {
    const storage = memory();
    const closed = await open('test', { storage });
    const empty = closed.root;
    await closed.putMany(rows(100));
    const { root } = closed;
    await closed.close();
    const db = await open('test', { storage });
    await db.put('k000005', 1);
    await db.delete('k000007');
    const changes = db.history.since(root);
    await db.put('n', 1);
    expect((await changes.toArray()).map(({ op, key }) => [op, key])).toEqual([
      ['update', 'k000005'],
      ['delete', 'k000007'],
      ['insert', 'n'],
    ]);
    expect(await db.history.since(db.root).toArray()).toEqual([]);
    expect(await db.history.since(root, { prefix: 'n' }).toArray()).toEqual([
      { op: 'insert', key: 'n', newValue: 1 },
    ]);
    const all: string[] = [];
    for await (const { op, key } of db.history.since(empty)) {
      expect(op).toBe('insert');
      all.push(key);
    }
    expectSame(all, await db.scan().keys().toArray());
  });

  it('are continued by a watch that begins next', async () => {
    const [one, other] = await handles(2);
    await one.putMany(rows(500));
    const { root } = one;
    const copy = new Copy(rows(500));
    await one.putMany(rows(50, 'new'));
    await rest();
    for await (const change of other.history.since(root)) copy.take([change], { root: other.root });
    other.watch({}, copy.take);
    await one.delete('k000002');
    await copy.becomes((await one.scan().toArray()) as Entry[]);
    await Promise.all([one.close(), other.close()]);
  });

  it('reject with a code when the commit of the root is not stored any more', async () => {
    const db = await open('test', { storage: memory() });
    await db.putMany(rows(3000));
    const { root } = db;
    for (let round = 1; round < 4; round++) await db.putMany(rows(3000, round));
    await db.health.compact();
    await expect(db.history.since(root).toArray()).rejects.toEqual(
      failure('missing-chunk', { message: expect.stringContaining(root) as unknown as string }),
    );
    await expect(db.history.since('f'.repeat(64)).toArray()).rejects.toEqual(
      failure('missing-chunk'),
    );
    await expect(db.history.since('not a root').toArray()).rejects.toEqual(
      failure('invalid-argument'),
    );
    const signal = AbortSignal.abort();
    await expect(db.history.since(db.root, { signal }).toArray()).rejects.toEqual(
      failure('aborted'),
    );
    await db.close();
    expect(() => db.history.since(root)[Symbol.asyncIterator]()).toThrow(failure('closed'));
  });
});
