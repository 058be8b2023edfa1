/** A single transaction. */
import { describe, expect, it } from 'vitest';
import { memory, open, type Transaction } from '../../../src/index.js';
import { watched } from '../../support/doubles/watched-storage.js';
import {
  all,
  type Entry,
  expectSame,
  failure,
  sorted,
  storeOf,
  within,
} from '../../support/models/store-model.js';
import { random } from '../../support/random.js';
import { ABC, twoHandles } from '../../support/two-handles.js';

describe('a transaction', () => {
  it('resolves to what its function returns, and commits once', async () => {
    const storage = watched(memory());
    const [db] = await twoHandles(ABC, storage);
    const before = storage.written.length;
    const sum = await db.transaction(async (tx) => {
      const [a = 0, b = 0] = await tx.getMany<number>(['a', 'b']);
      tx.put('sum', a + b);
      tx.delete('c');
      return a + b;
    });
    expect(sum).toBe(3);
    expect(storage.written.length).toBe(before + 1);
    expect(await all(db)).toEqual([
      ['a', 1],
      ['b', 2],
      ['sum', 3],
    ]);
  });

  it('reads its own edits among the stored rows', async () => {
    const db = await storeOf([...ABC, ['z', 26]]);
    await db.transaction(async (tx) => {
      tx.put('～', 'new');
      tx.put('😀', 'after it');
      tx.put('b', { changed: true });
      tx.delete('z');
      tx.delete('none');
      const rows = sorted([...ABC, ['b', { changed: true }], ['～', 'new'], ['😀', 'after it']]);
      expect(await tx.scan().toArray()).toEqual(rows);
      expect(await tx.scan({ reverse: true }).toArray()).toEqual([...rows].reverse());
      expect(await tx.scan({ limit: 2, gt: 'a' }).values().toArray()).toEqual([
        { changed: true },
        3,
      ]);
      expect(await tx.scan({ gt: 'b' }).keys().toArray()).toEqual(['c', '～', '😀']);
      expect(await tx.count()).toBe(5);
      expect(await tx.count({ gte: 'b', lte: 'z' })).toBe(2);
      expect([await tx.has('z'), await tx.has('～'), await tx.has('a')]).toEqual([
        false,
        true,
        true,
      ]);
      expect(await tx.get('b')).not.toBe(await tx.get('b'));
    });
  });

  it('takes values as they are at the call', async () => {
    const db = await storeOf();
    await db.transaction(async (tx) => {
      const [object, bytes] = [{ at: 1 }, Uint8Array.of(1)];
      tx.put('object', object);
      tx.put('bytes', bytes);
      object.at = 2;
      bytes[0] = 2;
      const read = await tx.get<Uint8Array>('bytes');
      read?.fill(9);
    });
    expect(await all(db)).toEqual([
      ['bytes', Uint8Array.of(1)],
      ['object', { at: 1 }],
    ]);
  });

  it('makes no commit when its function throws', async () => {
    const storage = watched(memory());
    const [db] = await twoHandles(ABC, storage);
    const before = storage.written.length;
    const mine = new Error('mine');
    for (const body of [
      (tx: Transaction) => {
        tx.put('a', 0);
        throw mine;
      },
      async (tx: Transaction) => {
        tx.put('a', 0);
        await tx.get('b');
        throw mine;
      },
    ]) {
      expect(await db.transaction(body).catch((error: unknown) => error)).toBe(mine);
    }
    expect(storage.written.length).toBe(before);
    expect(await all(db)).toEqual(ABC);
  });

  it('without edits makes no commit, and reads one commit', async () => {
    const storage = watched(memory());
    const [db] = await twoHandles(ABC, storage);
    const seen = await db.transaction(async (tx) => {
      const a = await tx.get('a');
      await db.put('a', 10);
      await db.put('b', 20);
      return [a, await tx.get('b'), await tx.scan().values().toArray()];
    });
    expect(seen).toEqual([1, 2, [1, 2, 3]]);
    expect(await db.get('b')).toBe(20);
  });

  it('refuses bad keys and values at the call, and can continue', async () => {
    const db = await storeOf();
    await db.transaction((tx) => {
      expect(() => tx.put('\ud800', 1)).toThrow(failure('invalid-argument/key'));
      expect(() => tx.put('a'.repeat(1025), 1)).toThrow(failure('invalid-argument/key'));
      expect(() => tx.delete(1 as never)).toThrow(failure('invalid-argument/key'));
      expect(() => tx.put('a', undefined)).toThrow(failure('invalid-argument/value'));
      expect(() => tx.put('a', Number.NaN)).toThrow(failure('invalid-argument/value'));
      expect(() => tx.put('a', new Map())).toThrow(failure('invalid-argument/value'));
      expect(() => tx.put('a', 'x'.repeat((64 << 20) - 1))).toThrow(
        failure('invalid-argument/value'),
      );
      tx.put('kept', 1);
    });
    expect(await all(db)).toEqual([['kept', 1]]);
    await expect(db.transaction(1 as never)).rejects.toEqual(failure('invalid-argument'));
  });

  it('refuses calls after its end', async () => {
    const db = await storeOf(ABC);
    let kept: Transaction | undefined;
    let rows: AsyncIterator<Entry> | undefined;
    await db.transaction(async (tx) => {
      kept = tx;
      rows = tx.scan()[Symbol.asyncIterator]();
    });
    const tx = kept!;
    const closed = failure('closed');
    for (const call of [
      () => tx.get('a'),
      () => tx.getMany([]),
      () => tx.has('a'),
      () => tx.count(),
      () => tx.scan(),
      () => tx.put('a', 2),
      () => tx.delete('a'),
      () => rows!.next(),
    ]) {
      await expect((async () => call())()).rejects.toEqual(closed);
    }
    expect(await all(db)).toEqual(ABC);
  });

  it('of many rows is one commit', async () => {
    const storage = watched(memory());
    const [db] = await twoHandles(ABC, storage);
    const before = storage.written.length;
    const from = random(1);
    const rows = Array.from({ length: 20_000 }, (_, at): Entry => [`k${at}`, from.text(30)]);
    await db.transaction((tx) => {
      for (const [key, value] of rows) tx.put(key, value);
      for (let at = 0; at < 20_000; at += 2) tx.delete(`k${at}`);
      tx.put('bytes', from.bytes(300_000));
    });
    const moves = storage.written.slice(before).filter(({ move }) => move !== undefined);
    expect(moves).toHaveLength(1);
    expect(await db.count({ prefix: 'k' })).toBe(10_000);
    expectSame(await db.get('k13'), rows[13]![1]);
  });

  it('ends with its signal, whatever its function waits for', async () => {
    const db = await storeOf(ABC);
    const aborted = failure('aborted');
    const signal = AbortSignal.abort();
    await expect(db.transaction(() => {}, { signal })).rejects.toEqual(aborted);
    const waiting = new AbortController();
    const done = db.transaction(
      async (tx) => {
        tx.put('a', 0);
        waiting.abort();
        await new Promise(() => {});
      },
      { signal: waiting.signal },
    );
    await expect(within(done)).rejects.toEqual(aborted);
    const last = new AbortController();
    const put = db.transaction(
      (tx) => {
        tx.put('a', 0);
        last.abort();
      },
      { signal: last.signal },
    );
    await expect(put).rejects.toEqual(aborted);
    expect(await all(db)).toEqual(ABC);
    await db.transaction((tx) => tx.put('a', 5), { signal: new AbortController().signal });
    expect(await db.get('a')).toBe(5);
  });

  it('is awaited by close, which refuses later transactions', async () => {
    const storage = memory();
    const db = await open('test', { storage });
    const done = db.transaction(async (tx) => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      tx.put('a', (await tx.get('a')) ?? 'last');
    });
    await db.close();
    await done;
    await expect(db.transaction(() => {})).rejects.toEqual(failure('closed'));
    expect(await (await open('test', { storage })).get('a')).toBe('last');
  });

  it('overrides a load in progress on the keys that it edits', async () => {
    const db = await storeOf(ABC);
    let proceed = () => {};
    const edited = new Promise<void>((resolve) => {
      proceed = resolve;
    });
    const loading = db.putMany(
      (async function* (): AsyncGenerator<Entry> {
        for (const key of ['a', 'b', 'c', 'd']) yield [key, 'loaded'];
        await edited;
      })(),
    );
    await db.transaction((tx) => {
      tx.put('a', 'mine');
      tx.delete('b');
    });
    proceed();
    await loading;
    expect(await all(db)).toEqual([
      ['a', 'mine'],
      ['c', 'loaded'],
      ['d', 'loaded'],
    ]);
  });
});
