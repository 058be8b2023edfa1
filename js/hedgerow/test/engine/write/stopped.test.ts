/** The source or the signal ends a `putMany` early. */
import { describe, expect, it, vi } from 'vitest';
import { memory, open } from '../../../src/index.js';
import { watched } from '../../support/doubles/watched-storage.js';
import {
  all,
  type Entry,
  expectSame,
  failure,
  refuses,
  SOON,
  storeOf,
  within,
} from '../../support/models/store-model.js';
import { random } from '../../support/random.js';

const BEFORE: Entry[] = [
  ['a', 1],
  ['b', Uint8Array.of(2)],
];

/** Yields endless rows that do not compress. */
function* endless(onReturn = () => {}): Generator<Entry> {
  const from = random(1);
  try {
    for (let at = 0; ; at++) yield [`k${at}`, { at, text: from.text(40) }];
  } finally {
    onReturn();
  }
}

const tick = (ms = 0) => new Promise<void>((resolve) => setTimeout(resolve, ms));

describe('an error of the source arrives unchanged', () => {
  const mine = new Error('mine');
  for (const after of [0, 1, 100, 25_000]) {
    it(`after ${after} rows of a generator`, async () => {
      const db = await storeOf(BEFORE);
      const source = function* () {
        let left = after;
        for (const row of endless()) {
          if (left-- === 0) throw mine;
          yield row;
        }
      };
      await refuses(db, () => db.putMany(source()), mine);
      expect(await db.putMany(source()).catch((error: unknown) => error)).toBe(mine);
    });

    it(`after ${after} rows of an async generator`, async () => {
      const db = await storeOf(BEFORE);
      const source = async function* () {
        let left = after;
        for (const row of endless()) {
          if (left % 1000 === 0) await tick();
          if (left-- === 0) throw mine;
          yield row;
        }
      };
      await refuses(db, () => db.putMany(source()), mine);
      expect(await db.putMany(source()).catch((error: unknown) => error)).toBe(mine);
    });
  }

  it('from the key function, and the iterator returns', async () => {
    const db = await storeOf(BEFORE);
    let returned = 0;
    const rows = () => endless(() => returned++);
    const key = (row: Entry) => {
      if (row[0] === 'k5000') throw mine;
      return row[0];
    };
    await refuses(db, () => db.putMany(rows(), { key }), mine);
    expect(returned).toBe(1);
    const asynchronous = async function* () {
      yield* rows();
    };
    await refuses(db, () => db.putMany(asynchronous(), { key }), mine);
    await vi.waitFor(() => expect(returned).toBe(2), SOON);
  });

  it('from the start of the iteration', async () => {
    const db = await storeOf(BEFORE);
    const throws = () => {
      throw mine;
    };
    await refuses(db, () => db.putMany({ [Symbol.iterator]: throws }), mine);
    await refuses(db, () => db.putMany({ [Symbol.asyncIterator]: throws }), mine);
    const next = { next: throws };
    await refuses(db, () => db.putMany({ [Symbol.iterator]: () => next }), mine);
    await refuses(db, () => db.putMany({ [Symbol.asyncIterator]: () => next }), mine);
  });

  it('also when it is not an Error', async () => {
    const db = await storeOf(BEFORE);
    for (const thrown of ['text', 5, null]) {
      const source = async function* (): AsyncGenerator<Entry> {
        yield ['k', 1];
        throw thrown;
      };
      const caught = await db.putMany(source()).then(
        () => 'none',
        (error: unknown) => [error],
      );
      expect(caught).toEqual([thrown]);
    }
  });
});

describe('a refused row ends the iteration', () => {
  for (const [title, bad] of [
    ['that JavaScript refuses', ['k', undefined]],
    ['that the core refuses', ['\ud800', 1]],
  ] as [string, Entry][]) {
    it(`${title}, sync and async`, async () => {
      const db = await storeOf(BEFORE);
      let returned = 0;
      const rows = function* () {
        try {
          yield ['x', 1] as Entry;
          yield bad;
          yield* endless();
        } finally {
          returned++;
        }
      };
      await expect(db.putMany(rows())).rejects.toMatchObject({ row: 1 });
      expect(returned).toBe(1);
      const asynchronous = async function* () {
        yield* rows();
      };
      await expect(db.putMany(asynchronous())).rejects.toMatchObject({ row: 1 });
      await vi.waitFor(() => expect(returned).toBe(2), SOON);
      expectSame(await all(db), BEFORE);
    });
  }
});

describe('an abort', () => {
  const aborted = (cause?: unknown) => failure('aborted', cause === undefined ? {} : { cause });

  it('before the call', async () => {
    const db = await storeOf(BEFORE);
    const signal = AbortSignal.abort('mine');
    let begun = false;
    const source = function* (): Generator<Entry> {
      begun = true;
      yield ['k', 1];
    };
    await refuses(db, () => db.putMany(source(), { signal }), aborted('mine'));
    expect(begun).toBe(false);
  });

  it('in the turn of the call', async () => {
    const db = await storeOf(BEFORE);
    await refuses(
      db,
      () => {
        const abort = new AbortController();
        const call = db.putMany(endless(), { signal: abort.signal });
        abort.abort('mine');
        return call;
      },
      aborted('mine'),
    );
  });

  it('from a timer, while a generator yields rows without end', async () => {
    for (let after = 10; after <= 100; after += 10) {
      const db = await storeOf(BEFORE);
      let [taken, takenBefore, returned] = [0, 0, 0];
      const abort = new AbortController();
      const rows = function* () {
        // The timer waits for the beginning: a load that has not begun does not end.
        setTimeout(() => {
          takenBefore = taken;
          abort.abort();
        }, after);
        for (const row of endless(() => returned++)) {
          taken++;
          yield row;
        }
      };
      await refuses(db, () => db.putMany(rows(), { signal: abort.signal }), aborted());
      // The caller hears of it at once, the source a moment later.
      await vi.waitFor(() => expect(returned).toBe(1), SOON);
      // The abort is noticed before the next block is read, not only at the next write.
      expect(taken - takenBefore, `after ${after} ms`).toBeLessThan(20_000);
      await db.close();
    }
  });

  it('from the source itself', async () => {
    const db = await storeOf(BEFORE);
    const abort = new AbortController();
    const source = function* () {
      for (const row of endless()) {
        if (row[0] === 'k3000') abort.abort();
        yield row;
      }
    };
    await refuses(db, () => db.putMany(source(), { signal: abort.signal }), aborted());
  });

  it('from the source itself, at its end', async () => {
    const db = await storeOf(BEFORE);
    const abort = new AbortController();
    const source = function* (): Generator<Entry> {
      yield ['k', 1];
      abort.abort();
    };
    await refuses(db, () => db.putMany(source(), { signal: abort.signal }), aborted());
  });

  it('from onProgress', async () => {
    const db = await storeOf(BEFORE);
    const abort = new AbortController();
    const onProgress = () => abort.abort();
    const { signal } = abort;
    await refuses(db, () => db.putMany(endless(), { signal, onProgress }), aborted());
  });

  it('while an async source never answers', async () => {
    const db = await storeOf(BEFORE);
    let returned = 0;
    const abort = new AbortController();
    const source = {
      [Symbol.asyncIterator]: () => {
        let at = 0;
        return {
          next: (): Promise<IteratorResult<Entry>> => {
            if (at++ < 3) return Promise.resolve({ done: false, value: [`k${at}`, at] });
            setTimeout(() => abort.abort(), 10);
            return new Promise(() => {});
          },
          return: () => {
            returned++;
            return new Promise<never>(() => {});
          },
        };
      },
    };
    const load = () => db.putMany(source, { signal: abort.signal });
    await within(refuses(db, load, aborted()));
    expect(returned).toBe(1);
  });

  it('while an async generator waits', async () => {
    const db = await storeOf(BEFORE);
    const abort = new AbortController();
    const source = async function* () {
      yield* BEFORE;
      setTimeout(() => abort.abort(), 10);
      await new Promise(() => {});
    };
    const load = () => db.putMany(source(), { signal: abort.signal });
    await within(refuses(db, load, aborted()));
  });

  it('while an async source yields rows without end, and without waiting', async () => {
    const db = await storeOf(BEFORE);
    let returned = 0;
    const abort = new AbortController();
    const source = async function* () {
      // The abort waits for the beginning: a load that has not begun does not end.
      setTimeout(() => abort.abort(), 50);
      yield* endless(() => returned++);
    };
    const load = () => db.putMany(source(), { signal: abort.signal });
    await within(refuses(db, load, aborted()));
    await vi.waitFor(() => expect(returned).toBe(1), SOON);
  });

  it('after the end has no effect', async () => {
    const db = await storeOf();
    const abort = new AbortController();
    await db.putMany(BEFORE, { signal: abort.signal });
    abort.abort();
    await tick();
    expectSame(await all(db), BEFORE);
  });

  it('while storage is slow, before the commit', async () => {
    const abort = new AbortController();
    const storage = watched(memory());
    const db = await open('test', { storage });
    await db.putMany(BEFORE);
    storage.hooks.write = async ({ move }) => {
      if (move !== undefined) return;
      abort.abort();
      await tick(20);
    };
    const from = random(2);
    const rows = Array.from({ length: 200 }, (_, at): Entry => [`k${at}`, from.bytes(40_000)]);
    await refuses(db, () => db.putMany(rows, { signal: abort.signal }), aborted());
  });
});
