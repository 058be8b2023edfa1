/** Windows of live queries: the rows that they show, and the reads behind them. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { live } from '../../src/live/index.js';
import { rest, until } from '../support/watching.js';
import { reads } from './counted-reads.js';
import { keyOf, keysOf, listened, range, rowsOf, storeOf } from './live-store.js';

vi.mock(import('../../src/live/read-synchronously.js'), async (original) => {
  const { counted } = await import('./counted-reads.js');
  return counted(await original());
});
beforeEach(() => Object.assign(reads, { count: 0, isCold: false }));
afterEach(() => void vi.restoreAllMocks());

describe('a window', () => {
  it('is patched in place where that suffices, and else read by itself', async () => {
    const db = await storeOf(100);
    const snapshot = vi.spyOn(db, 'snapshot');
    const shown = live(db, { offset: 10, limit: 5 });
    const heard = listened(shown);
    const steps: [
      what: () => Promise<unknown>,
      keys: string[],
      isRead: boolean,
      isTold: boolean,
    ][] = [
      [() => db.put(keyOf(12), 'new'), range(10, 15), false, true],
      // Within: the last one leaves.
      [
        () => db.put(`${keyOf(11)}x`, 1),
        [...range(10, 12), `${keyOf(11)}x`, ...range(12, 14)],
        false,
        true,
      ],
      // The patch does not know the row behind a deleted one.
      [() => db.delete(`${keyOf(11)}x`), range(10, 15), true, true],
      [() => db.put(keyOf(3), 'new'), range(10, 15), false, false],
      [() => db.put(keyOf(50), 'new'), range(10, 15), false, false],
      [() => db.delete(keyOf(50)), range(10, 15), false, false],
      [() => db.put('a', 'before'), range(9, 14), true, true],
      [() => db.delete('a'), range(10, 15), true, true],
      // As many rows come as go before the window.
      [
        () =>
          db.applyPatch([
            { op: 'delete', key: keyOf(2) },
            { op: 'put', key: 'a', value: 1 },
          ]),
        range(10, 15),
        false,
        false,
      ],
      // The row that moves in was within, and one came: no row is missing.
      [
        () =>
          db.applyPatch([
            { op: 'delete', key: 'a' },
            { op: 'put', key: `${keyOf(14)}-`, value: 1 },
            { op: 'put', key: `${keyOf(13)}x`, value: 1 },
          ]),
        [...range(11, 14), `${keyOf(13)}x`, keyOf(14)],
        false,
        true,
      ],
    ];
    for (const [at, [change, keys, isRead, isTold]] of steps.entries()) {
      const before = { rows: shown.get().rows, calls: heard.calls };
      reads.count = 0;
      await change();
      await until(
        () => keysOf(shown).join() === keys.join() && (!isTold || heard.calls > before.calls),
      );
      await rest();
      expect(heard.calls - before.calls, `step ${at}`).toBe(Number(isTold));
      expect(shown.get().rows === before.rows, `step ${at}`).toBe(!isTold);
      expect(reads.count, `step ${at}`).toBe(Number(isRead));
      for (const row of shown.get().rows) {
        const same = before.rows.find(([key, value]) => key === row[0] && value === row[1]);
        if (same) expect(before.rows, `step ${at}`).toContain(row);
      }
    }
    expect(snapshot).not.toHaveBeenCalled();
    await db.close();
  });

  it('that is not full, at the end, or beyond it, is read only after a row comes', async () => {
    const db = await storeOf(10);
    const last = live(db, { offset: 8, limit: 5 });
    const beyond = live(db, { offset: 12, limit: 2, reverse: true });
    const none = live(db, { limit: 0 });
    const heard = [last, beyond, none].map(listened);
    reads.count = 0;
    await db.put(keyOf(10), 1);
    await until(() => last.get().rows.length === 3);
    await db.delete(keyOf(8));
    await until(() => last.get().rows.length === 2);
    // Only for the empty window: the row might fill it.
    expect(reads.count).toBe(1);
    await db.putMany(rowsOf(16).slice(10));
    await until(() => beyond.get().rows.length === 2 && last.get().rows.length === 5);
    expect(keysOf(beyond)).toEqual([keyOf(2), keyOf(1)]);
    expect(keysOf(last)).toEqual([keyOf(9), ...range(10, 14)]);
    expect(none.get().rows).toEqual([]);
    expect(heard.map(({ calls }) => calls)).toEqual([3, 1, 0]);
    await db.close();
  });

  it('on an index follows entries, also of rows with several of them', async () => {
    const db = await storeOf(0, { indexes: { tags: { path: ['/tags', '/n'] } } });
    await db.putMany([
      ['a', { tags: ['x', 'y'], n: 1 }],
      ['b', { tags: ['y'], n: 2 }],
      ['c', { tags: ['y', 'z'], n: 0 }],
    ]);
    const shown = live<{ n: number }>(db, { index: 'tags', offset: 1, limit: 3 });
    const entries = () => shown.get().rows.map(([key, { n }, secondary]) => [key, n, secondary]);
    expect(entries()).toEqual([
      ['c', 0, ['y', 0]],
      ['a', 1, ['y', 1]],
      ['b', 2, ['y', 2]],
    ]);
    const { rows } = shown.get();
    const heard = listened(shown);
    reads.count = 0;
    // One entry of `a` is before the window, one within.
    await db.put('a', { tags: ['x', 'y'], n: -1 });
    await until(() => heard.calls === 1);
    expect(entries()).toEqual([
      ['a', -1, ['y', -1]],
      ['c', 0, ['y', 0]],
      ['b', 2, ['y', 2]],
    ]);
    expect(reads.count).toBe(1);
    expect(shown.get().rows.slice(1)).toEqual([rows[0], rows[2]]);
    expect(shown.get().rows[2]).toBe(rows[2]);
    await db.put('a', { tags: ['x', 'y'], n: 1 });
    await until(() => heard.calls === 2);
    expect(entries()[1]).toEqual(['a', 1, ['y', 1]]);
    expect(shown.get().rows[2]).toBe(rows[2]);
    expect(reads.count).toBe(1);
    await db.put('a', { tags: ['y'], n: 3 });
    await until(() => heard.calls === 3);
    expect(entries()).toEqual([
      ['b', 2, ['y', 2]],
      ['a', 3, ['y', 3]],
      ['c', 0, ['z', 0]],
    ]);
    // After a position of the index.
    const after = live(db, { index: 'tags', after: [['y', 2], 'b'], limit: 5 });
    listened(after);
    expect(keysOf(after)).toEqual(['a', 'c']);
    await db.put('b', { tags: ['y'], n: 2, more: 1 });
    await db.put('a0', { tags: ['y'], n: 2.5 });
    await until(() => keysOf(after).join() === 'a0,a,c');
    await db.close();
  });

  it('of 300 on as many ranges, or on one, is the only one to be called', async () => {
    const db = await storeOf(3000);
    for (const inOneRange of [false, true]) {
      const all = Array.from({ length: 300 }, (_, at) =>
        live(db, {
          ...(inOneRange ? { offset: 10 * at } : { gte: keyOf(10 * at), lt: keyOf(10 * at + 10) }),
          limit: 5,
          reverse: false,
        }),
      );
      const heard = all.map(listened);
      reads.count = 0;
      for (const at of [0, 7, 150, 299]) {
        await db.put(keyOf(10 * at + 3), { at, inOneRange });
        await until(() => heard[at]?.calls === 1);
      }
      await rest();
      expect(heard.reduce((sum, { calls }) => sum + calls, 0)).toBe(4);
      expect(reads.count).toBe(0);
      // Only the windows behind are shifted.
      if (inOneRange) {
        await db.put(`${keyOf(1496)}x`, 1);
        await until(() => heard.slice(150).every(({ calls }) => calls > 0));
        await rest();
        expect(heard.slice(0, 150).reduce((sum, { calls }) => sum + calls, 0)).toBe(2);
        expect(reads.count).toBe(150);
      }
      for (const one of all) one.close();
    }
    await db.close();
  });
});
