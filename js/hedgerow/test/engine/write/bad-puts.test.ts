/** Puts of one turn share a commit, and no more: a refused put is refused alone. */
import { describe, expect, it } from 'vitest';
import { memory, open } from '../../../src/index.js';
import { watched } from '../../support/doubles/watched-storage.js';
import { kindOf } from '../../support/error-kind.js';
import { failure, storeOf } from '../../support/models/store-model.js';
import { forSeeds } from '../../support/property.js';

const MAX = '18446744073709551615';
const sums = { t: { prefix: 's/', key: '/id', sum: '/n' } };

async function counting(storage = memory()) {
  return open('test', { storage, advanced: { sums } });
}

/** Returns `true` for each call that was accepted, or the code of its refusal. */
async function settled(calls: readonly Promise<void>[]): Promise<unknown[]> {
  const results = await Promise.allSettled(calls);
  return results.map((one) => (one.status === 'fulfilled' ? true : kindOf(one.reason)));
}

describe('a put that a followed sum tree refuses', () => {
  it.each([
    ['has no whole number', { id: 'b', n: 1.5 }, 'invalid-argument/value'],
    ['has a sum below zero', { id: 'b', n: -1 }, 'invalid-argument/value'],
    ['has the key of another row', { id: 'a', n: 2 }, 'invalid-argument/value'],
    ['lets the sum overflow', { id: 'b', n: MAX }, 'invalid-argument/sum-overflow'],
  ])('since it %s is refused alone', async (_, bad, code) => {
    const db = await counting();
    await db.put('s/a', { id: 'a', n: 1 });
    const calls = [
      db.put('plain', 1),
      db.put('s/c', { id: 'c', n: 3 }),
      db.put('s/bad', bad),
      db.put('s/d', { id: 'd', n: 4 }),
      db.delete('none'),
    ];
    expect(await settled(calls)).toEqual([true, true, code, true, true]);
    expect(await db.scan().keys().toArray()).toEqual(['plain', 's/a', 's/c', 's/d']);
    expect(db.sumTree('t').root.sum).toBe(8n);
    await db.put('s/e', { id: 'e', n: 2 });
    expect(db.sumTree('t').root.sum).toBe(10n);
    await db.close();
  });

  it('is refused with its own fault', async () => {
    const db = await counting();
    const message = expect.stringContaining('whole number') as unknown as string;
    const put = db.put('s/a', { id: 'a', n: 'x' });
    await expect(put).rejects.toEqual(failure('invalid-argument/value', { message }));
  });

  it('is found among many in few commits', async () => {
    const storage = watched(memory());
    const db = await counting(storage);
    await db.put('plain', 0);
    const before = storage.written.length;
    const calls = Array.from({ length: 256 }, (_, at) =>
      db.put(`s/${at}`, { id: `${at}`, n: at === 77 ? 'no number' : 1 }),
    );
    const result = await settled(calls);
    expect(result.filter((one) => one !== true)).toEqual(['invalid-argument/value']);
    expect(result[77]).toBe('invalid-argument/value');
    // A half each time: as many as 256 has bits, and one more.
    expect(storage.written.length - before).toBeLessThanOrEqual(9);
    expect(db.sumTree('t').root.sum).toBe(255n);
  });
});

it('a put that the core refuses says why, without a position', async () => {
  const db = await storeOf();
  let deep: unknown = 1;
  for (let level = 0; level < 600; level++) deep = [deep];
  const calls = [db.put('a', 1), db.put('b', deep), db.put('c', 3)];
  const message = 'the value is nested deeper than 512';
  await expect(calls[1]).rejects.toEqual(failure('invalid-argument/value', { message }));
  expect(await settled(calls)).toEqual([true, 'invalid-argument/value', true]);
});

it('a number that is too large for a double is refused as an object and as bytes', async () => {
  const db = await storeOf();
  const refused = failure('invalid-argument/value');
  for (const text of ['1e400', '-1e400', '9'.repeat(400)]) {
    await expect(db.put('a', JSON.parse(text)), text).rejects.toEqual(refused);
    await expect(db.putMany([['a', [JSON.parse(text)]]]), text).rejects.toEqual(refused);
    const lines = new TextEncoder().encode(`["a",{"b":${text}}]\n`);
    const inBytes = failure('invalid-data/row', { row: 0 });
    await expect(db.putMany(lines, { format: 'ndjson' }), text).rejects.toEqual(inBytes);
    const patch = new TextEncoder().encode(`{"op":"put","key":"a","value":${text}}\n`);
    await expect(db.applyPatch(patch), text).rejects.toEqual(failure('invalid-data/patch'));
  }
  expect(await db.count()).toBe(0);
});

it('all puts of a turn fail with storage, and no row is put', async () => {
  const storage = watched(memory());
  const db = await counting(storage);
  storage.hooks.write = async () => {
    throw Object.assign(new Error('full'), { code: 'quota' });
  };
  const results = await Promise.allSettled([db.put('a', 1), db.put('s/b', { id: 'b', n: 1 })]);
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  delete storage.hooks.write;
  expect(await db.count()).toBe(0);
});

it('of random puts and deletes of one turn the right ones take effect, in their order', async () => {
  await forSeeds(30, async (from, _, begin) => {
    const db = await counting();
    const expected = new Map<string, unknown>();
    for (let turn = 0; turn < 4; turn++) {
      const edits = Array.from({ length: 1 + from.below(20) }, () => {
        const key = from.pick(['s/a', 's/b', 's/c', 's/d', 'p', 'q']);
        const kind = from.below(6);
        // Each row has a key of its own, so that only its own number can be wrong.
        if (kind === 0) return { key, isBad: false };
        const isBad = key.startsWith('s/') && kind === 1;
        return { key, isBad, value: { id: key, n: isBad ? 'bad' : from.below(9) } };
      });
      begin({ edits });
      const calls = edits.map(({ key, value }) =>
        value === undefined ? db.delete(key) : db.put(key, value),
      );
      const results = await settled(calls);
      for (const [at, { key, value, isBad }] of edits.entries()) {
        // A bad put that a later call replaces is never checked.
        if (results[at] !== true)
          expect(isBad, `edit ${at}, of ${key}, failed: it is bad`).toBe(true);
        if (isBad) continue;
        if (value === undefined) expected.delete(key);
        else expected.set(key, value);
      }
      const rows = new Map(await db.scan().toArray());
      for (const [at, { key, isBad }] of edits.entries()) {
        const isLast = !edits.slice(at + 1).some((later) => later.key === key);
        if (isBad && isLast)
          expect(results[at], `edit ${at}, of ${key}, is bad: its error`).not.toBe(true);
      }
      // The later call counts where a bad put was replaced.
      expect(rows, 'rows').toEqual(expected);
    }
    await db.close();
  });
});
