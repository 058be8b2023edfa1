/** `put` and `delete` with a durability and a signal of their own. */
import { describe, expect, it } from 'vitest';
import { memory, open } from '../../../src/index.js';
import { watched } from '../../support/doubles/watched-storage.js';
import { all, failure, SOON, within } from '../../support/models/store-model.js';
import { twoHandles } from '../../support/two-handles.js';

/** Returns a store whose commits are noted, and a way to block the next ones. */
async function noted(durability?: 'relaxed' | 'strict') {
  const storage = watched(memory());
  const db = await open('test', { storage, durability });
  await db.put('a', 1);
  storage.written.length = 0;
  return { db, storage, durabilities: () => storage.written.map((batch) => batch.durability) };
}

describe('the durability of a put', () => {
  it('equals the durability of the store, or its own option', async () => {
    const { db, durabilities } = await noted();
    await db.put('b', 1);
    await db.put('b', 2, { durability: 'strict' });
    await db.put('b', 3, {});
    await db.put('b', 4, { durability: undefined });
    await db.delete('a', { durability: 'strict' });
    await db.delete('b', { durability: 'relaxed' });
    expect(durabilities()).toEqual([
      'relaxed',
      'strict',
      'relaxed',
      'relaxed',
      'strict',
      'relaxed',
    ]);
  });

  it('may be weaker than the durability of the store', async () => {
    const { db, durabilities } = await noted('strict');
    await db.put('b', 1, { durability: 'relaxed' });
    await db.put('b', 2);
    expect(durabilities()).toEqual(['relaxed', 'strict']);
  });

  it.each(['relaxed', 'strict'] as const)(
    'makes the commit of its turn strict, whichever put it is, in a %s store',
    async (usual) => {
      for (const at of [0, 1, 2]) {
        const { db, storage, durabilities } = await noted(usual);
        const puts = ['b', 'c', 'd'].map((key, index) =>
          db.put(key, 1, { durability: index === at ? 'strict' : 'relaxed' }),
        );
        await Promise.all(puts);
        expect(durabilities()).toEqual(['strict']);
        expect(storage.written.length).toBe(1);
        expect((await all(db)).map(([key]) => key)).toEqual(['a', 'b', 'c', 'd']);
      }
    },
  );

  it('is relaxed for a turn of relaxed puts, in a strict store', async () => {
    const { db, durabilities } = await noted('strict');
    const relaxed = { durability: 'relaxed' } as const;
    await Promise.all([db.put('b', 1, relaxed), db.delete('a', relaxed)]);
    await Promise.all([db.put('c', 1, relaxed), db.put('d', 1)]);
    expect(durabilities()).toEqual(['relaxed', 'strict']);
  });
});

describe('the signal of a put', () => {
  it('refuses the put alone when it was aborted before', async () => {
    const { db } = await noted();
    const signal = AbortSignal.abort('mine');
    const others = [db.put('b', 1), db.delete('a')];
    await expect(db.put('c', 1, { signal })).rejects.toMatchObject(
      failure('aborted', { cause: 'mine' }),
    );
    await expect(db.delete('b', { signal })).rejects.toMatchObject(failure('aborted'));
    await Promise.all(others);
    expect(await all(db)).toEqual([['b', 1]]);
  });

  it('cancels a waiting put, and an earlier put of its key stays', async () => {
    const { db } = await noted();
    const abort = new AbortController();
    const first = db.put('b', 1);
    const second = db.put('b', 2, { signal: abort.signal });
    const third = db.put('c', 3);
    abort.abort('mine');
    await expect(second).rejects.toMatchObject(failure('aborted', { cause: 'mine' }));
    await Promise.all([first, third]);
    expect(await all(db)).toEqual([
      ['a', 1],
      ['b', 1],
      ['c', 3],
    ]);
  });

  it('cancels the put at once while another commit is in progress', async () => {
    const { db, storage } = await noted();
    let release: (() => void) | undefined;
    storage.hooks.write = () =>
      new Promise<void>((resolve) => {
        release = resolve;
      });
    const slow = db.put('b', 1);
    await expect.poll(() => release, SOON).toBeDefined();
    const abort = new AbortController();
    const waiting = db.put('c', 1, { signal: abort.signal });
    const other = db.put('d', 1);
    abort.abort();
    // The commit before it has not ended.
    await within(expect(waiting).rejects.toMatchObject(failure('aborted')) as Promise<void>);
    delete storage.hooks.write;
    release?.();
    await Promise.all([slow, other]);
    expect((await all(db)).map(([key]) => key)).toEqual(['a', 'b', 'd']);
  });

  it('has no effect after its commit has begun', async () => {
    const { db, storage } = await noted();
    const abort = new AbortController();
    storage.hooks.write = () => abort.abort();
    await db.put('b', 1, { signal: abort.signal });
    expect(await db.get('b')).toBe(1);
  });

  it('leaves no commit when it cancels all puts of a turn', async () => {
    const { db, storage } = await noted();
    const abort = new AbortController();
    const puts = ['b', 'c'].map((key) => db.put(key, 1, { signal: abort.signal }));
    abort.abort();
    for (const one of puts) await expect(one).rejects.toMatchObject(failure('aborted'));
    await db.put('d', 1);
    expect(storage.written.length).toBe(1);
    expect((await all(db)).map(([key]) => key)).toEqual(['a', 'd']);
  });

  it('does not change the value, which is taken at the call', async () => {
    const { db } = await noted();
    const value = { n: 1 };
    const putting = db.put('b', value, { signal: new AbortController().signal });
    value.n = 2;
    await putting;
    expect(await db.get('b')).toEqual({ n: 1 });
  });

  it('a read of the handle waits for the put, and sees no put that was cancelled', async () => {
    const { db } = await noted();
    const abort = new AbortController();
    const putting = db.put('a', 2, { signal: abort.signal });
    const reading = db.get('a');
    abort.abort();
    await expect(putting).rejects.toMatchObject(failure('aborted'));
    expect(await reading).toBe(1);
  });
});

it('malformed options are refused, and no row is written', async () => {
  const { db, storage } = await noted();
  for (const options of [
    { durability: 'firm' },
    { signal: {} },
    { durable: true },
    'strict',
    null,
  ] as never[]) {
    await expect(db.put('b', 1, options)).rejects.toMatchObject(failure('invalid-argument'));
    await expect(db.delete('a', options)).rejects.toMatchObject(failure('invalid-argument'));
  }
  await expect(db.put('\ud800', 1, { durability: 'strict' })).rejects.toMatchObject(
    failure('invalid-argument/key'),
  );
  expect(storage.written).toEqual([]);
  await db.close();
  await expect(db.put('b', 1, { durability: 'strict' })).rejects.toMatchObject(failure('closed'));
});

it('edits with options win over earlier writes of another tab', async () => {
  const [one, two] = await twoHandles();
  await two.put('a', 1);
  await one.put('a', 2, { durability: 'strict', signal: new AbortController().signal });
  await expect.poll(() => two.get('a')).toBe(2);
});
