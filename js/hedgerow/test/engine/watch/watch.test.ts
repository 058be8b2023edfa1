/** Watching a range: the arguments and the times of callbacks. */
import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Change } from '../../../src/index.js';
import { defined, type Entry, expectSame, storeOf } from '../../support/models/store-model.js';
import { add, calls, change, del, rows } from '../../support/watch-changes.js';
import { Copy, handles, rest, until } from '../../support/watching.js';

afterEach(() => void vi.restoreAllMocks());

interface Step {
  readonly set?: Record<string, unknown>;
  readonly del?: string;
  readonly expect?: Change[] | 'no call';
  readonly expectInitial?: Change[];
}
interface Case {
  readonly name: string;
  readonly options?: { readonly prefix?: string; readonly initialValuesInFirstDiff?: boolean };
  readonly steps: readonly Step[];
}

describe('vectors', () => {
  const file = new URL('../../../../../vectors/watch/watch.json', import.meta.url);
  const { cases } = JSON.parse(readFileSync(file, 'utf8')) as { cases: Case[] };
  it.each(cases)('$name', async ({ options = {}, steps }) => {
    const db = await storeOf();
    const { prefix, initialValuesInFirstDiff: initial } = options;
    const { told, take } = calls();
    db.watch(defined({ prefix }), take, { initial });
    for (const step of steps) {
      told.length = 0;
      if (step.set !== undefined) await db.putMany(Object.entries(step.set));
      if (step.del !== undefined) await db.delete(step.del);
      const expected = step.expect === 'no call' ? [] : [step.expect ?? step.expectInitial];
      await until(() => told.length >= expected.length);
      await rest();
      expect(told).toEqual(expected);
    }
  });
});

describe('a callback', () => {
  it('gets the changes of one commit, in the order of keys, with its root', async () => {
    const db = await storeOf([
      ['a', 1],
      ['b', 2],
      ['c', 3],
    ]);
    const copy = new Copy([
      ['a', 1],
      ['b', 2],
      ['c', 3],
    ]);
    db.watch({}, copy.take);
    await db.transaction(async (tx) => {
      tx.delete('c');
      tx.put('\u{1f600}', 1);
      tx.put('\uff5e', 2);
      tx.put('b', 2);
      tx.put('a', 11);
    });
    await until(() => copy.calls > 0);
    expect(copy.told).toEqual([
      [change('a', 1, 11), del('c', 3), add('\uff5e', 2), add('\u{1f600}', 1)],
    ]);
    expect(copy.root).toBe(db.root);
  });

  it('is not called for puts of equal values or for rows outside its range', async () => {
    const db = await storeOf([['a', { x: [1] }]]);
    const { told, take } = calls();
    db.watch({ lt: 'b' }, take);
    await db.put('a', { x: [1] });
    await db.putMany([['b', 1]]);
    await db.delete('none');
    await rest();
    expect(told).toEqual([]);
    await db.put('a', 2);
    await until(() => told.length > 0);
    expect(told).toEqual([[change('a', { x: [1] }, 2)]]);
  });

  it('gets byte values as bytes, and values that are stored out of line', async () => {
    const db = await storeOf();
    const { told, take } = calls();
    db.watch({}, take, { initial: true });
    const large = 'x'.repeat(300_000);
    await db.putMany([
      ['bytes', Uint8Array.of(1, 2, 3)],
      ['large', large],
    ]);
    await until(() => told.flat().length === 2);
    expectSame(told.flat(), [add('bytes', Uint8Array.of(1, 2, 3)), add('large', large)]);
  });

  it('gets all rows first with `initial`, and then their changes', async () => {
    const entries = rows(5000);
    const db = await storeOf(entries);
    const copy = new Copy();
    db.watch({ prefix: 'k' }, copy.take, { initial: true });
    // Puts of the same turn, and puts while the rows are read.
    const first = db.put('k000007', 'first');
    await rest(2);
    const second = db.put('k1', 'second');
    await Promise.all([first, second]);
    const model = new Map(entries).set('k000007', 'first').set('k1', 'second');
    await copy.becomes(model);
    expect(copy.root).toBe(db.root);
  });

  it.each([1, 3])('gets all changes when it begins during commits (every %i)', async (n) => {
    const db = await storeOf(rows(50));
    const copies: [Copy, string][] = [];
    for (let round = 0; round < 40; round++) {
      const writing = db.put('k000003', round);
      if (round % n === 0) {
        for (let turns = 0; turns < round % 5; turns++) await Promise.resolve();
        const { root } = db;
        // Scan a snapshot, which does not wait for the put.
        const snapshot = db.snapshot();
        const copy = new Copy(await snapshot.scan().toArray());
        snapshot.close();
        // The watch begins at the rows that were read only if the head has not moved since.
        if (db.root === root) {
          db.watch({}, copy.take);
          copies.push([copy, root]);
        }
      }
      await writing;
    }
    expect(copies.length).toBeGreaterThan(5);
    const expected = await db.scan().toArray();
    for (const [copy] of copies) await copy.becomes(expected);
  });

  it('gets the commits of other handles, and bulk loads', async () => {
    const [one, other] = await handles(2);
    const copies = [new Copy(), new Copy()] as const;
    one.watch({}, copies[0].take, { initial: true });
    other.watch({}, copies[1].take, { initial: true });
    await one.put('a', 1);
    await other.putMany(rows(3000));
    await one.delete('k000500');
    const expected = (await one.scan().toArray()) as Entry[];
    expect(expected.length).toBe(3000);
    for (const copy of copies) await copy.becomes(expected);
    await Promise.all([one.close(), other.close()]);
  });

  it('gets all commits during the call of another callback in one call', async () => {
    const db = await storeOf();
    const { told, take } = calls();
    const writes: Promise<void>[] = [];
    db.watch({ lte: 'a' }, () => {
      // No commit can precede the next call, which is made in the same turn or slice.
      writes.push(db.put('b', 1));
    });
    db.watch({ lte: 'b' }, take);
    await db.put('a', 1);
    await until(() => told.flat().length === 2);
    await Promise.all(writes);
    expect(told).toEqual([[add('a', 1)], [add('b', 1)]]);
  });

  it('that is slow gets the sum of the changes in the meantime, and others do not wait', async () => {
    const db = await storeOf();
    const copy = new Copy();
    let go = () => {};
    const slow = vi.fn((changes: readonly Change[], at: { readonly root: string }) => {
      copy.take(changes, at);
      return new Promise<void>((resolve) => {
        go = resolve;
      });
    });
    db.watch({}, slow, { initial: true });
    const { told, take } = calls();
    db.watch({}, take);
    await until(() => slow.mock.calls.length === 1);
    for (let at = 0; at < 5; at++) {
      await db.put('n', at);
      await db.put(`k${at}`, at);
      await until(() => told.flat().length === 2 * at + 2);
    }
    await db.delete('k1');
    await rest();
    expect(slow).toHaveBeenCalledTimes(1);
    go();
    await until(() => slow.mock.calls.length === 2);
    expect(copy.told[1]).toEqual([
      add('k0', 0),
      add('k2', 2),
      add('k3', 3),
      add('k4', 4),
      add('n', 4),
    ]);
    go();
    await rest();
    // It missed no changes, or only changes that were reverted: it is not called.
    await db.put('n', 5);
    await until(() => slow.mock.calls.length === 3);
    await db.put('k9', 9);
    await db.delete('k9');
    // The watch could still stand between the two.
    await rest();
    go();
    await rest();
    expect(slow).toHaveBeenCalledTimes(3);
    await db.put('n', 6);
    await until(() => slow.mock.calls.length === 4);
    await copy.becomes(await db.scan().toArray());
  });

  it('that throws or rejects is reported, and does not end any watch', async () => {
    const reported = vi.spyOn(console, 'error').mockImplementation(() => {});
    const db = await storeOf();
    const copy = new Copy([]);
    let count = 0;
    db.watch({}, () => {
      count += 1;
      throw new Error('thrown');
    });
    db.watch({}, async () => {
      throw new Error('rejected');
    });
    db.watch({}, copy.take);
    await db.put('a', 1);
    await until(() => copy.calls === 1);
    await rest();
    await db.put('b', 1);
    await until(() => copy.calls === 2);
    await rest();
    expect(count).toBe(2);
    const messages = reported.mock.calls.map(([error]) => (error as Error).message);
    expect(messages.sort()).toEqual(['rejected', 'rejected', 'thrown', 'thrown']);
  });
});
