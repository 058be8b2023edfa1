/** Calls hear their signals while code of the caller is pending, which never settles. */
import { describe, expect, it } from 'vitest';
import { turn } from '../../src/base/slice-queue.js';
import { importStore, memory } from '../../src/index.js';
import { watched } from '../support/doubles/watched-storage.js';
import { failure, within } from '../support/models/store-model.js';
import {
  NEW,
  pairs,
  type Scene,
  sceneOf,
  settles,
  standing,
  TURNS,
  watchedCall,
} from './signal-calls.js';

const never = () => new Promise<never>(() => {});

describe('a call hears its signal while code of the caller is pending, which never settles:', () => {
  const stream = () => new ReadableStream({ pull: never });
  const rows = () => ({ [Symbol.asyncIterator]: () => ({ next: never, return: never }) });
  async function* some() {
    yield* pairs(NEW);
    await never();
  }
  const pending: [string, (scene: Scene, signal: AbortSignal) => Promise<unknown>][] = [
    ['the function of a transaction', ({ db }, signal) => db.transaction(never, { signal })],
    [
      'that function after an edit',
      ({ db }, signal) =>
        db.transaction(
          async (tx) => {
            tx.put('k1', 1);
            await never();
          },
          { signal },
        ),
    ],
    ['onConflict', ({ db }, signal) => db.branches.merge('draft', { signal, onConflict: never })],
    ['rows', ({ db }, signal) => db.putMany(rows(), { signal })],
    ['rows after some', ({ db }, signal) => db.putMany(some(), { signal })],
    ['a stream', ({ db }, signal) => db.putMany(stream(), { signal })],
    [
      'a stream of bytes',
      ({ db }, signal) => db.putMany(new Response(stream()), { key: '/id', signal }),
    ],
    ['keys to delete', ({ db }, signal) => db.deleteMany(rows(), { signal })],
    ['operations', ({ db }, signal) => db.applyPatch(rows(), { signal })],
    ['leaves', ({ db }, signal) => db.sumTree('hand').putMany(rows(), { signal })],
    ['leaves to delete', ({ db }, signal) => db.sumTree('hand').deleteMany(rows(), { signal })],
    [
      'the source of an import',
      ({ storage }, signal) => importStore('other', never, { storage, signal }),
    ],
    [
      'the parts of an import',
      ({ storage }, signal) => importStore('other', async () => stream(), { storage, signal }),
    ],
    [
      'the rest of an import',
      ({ storage, copy }, signal) => {
        const parts = async function* () {
          yield new Uint8Array(await copy.slice(0, copy.size >> 1).arrayBuffer());
          await never();
        };
        return importStore('other', parts(), { storage, signal });
      },
    ],
  ];
  for (const [title, run] of pending) {
    it(title, async () => {
      const scene = await sceneOf();
      const { db } = scene;
      const before = await standing(db);
      for (const turns of [0, 1, 2, 5, 30]) {
        const abort = new AbortController();
        const state = watchedCall(run(scene, abort.signal));
        for (let at = 0; at < turns; at++) await turn();
        expect(state.end).toBeUndefined();
        abort.abort('mine');
        const end = await settles(state, `after ${turns} turns`);
        expect(end).toEqual({ cause: failure('aborted', { cause: 'mine' }) });
        expect(await standing(db)).toBe(before);
      }
      await db.put('k1', 'works');
      await within(db.close());
    });
  }
});

it('an import that is aborted while it waits for its source releases storage', async () => {
  const { db, copy } = await sceneOf();
  await db.close();
  const storage = watched(memory());
  // The source is cut off here, so that the next import continues there.
  const cut = copy.slice(0, copy.size - 100);
  await expect(importStore('rest', cut, { storage })).rejects.toEqual(
    failure('invalid-data/export'),
  );
  const closed = storage.closed;
  const abort = new AbortController();
  let asked = 0;
  const source = (offset: number) => {
    asked += 1;
    return offset === 0 ? copy : never();
  };
  const state = watchedCall(importStore('rest', source, { storage, signal: abort.signal }));
  while (asked < 2) await turn();
  abort.abort('mine');
  expect(await settles(state, 'the rest')).toEqual({ cause: failure('aborted') });
  for (let at = 0; at < TURNS; at++) await turn();
  expect(storage.closed).toBe(closed + 1);
  expect((await importStore('rest', copy, { storage })).stats.segmentsBefore).toBeGreaterThan(0);
});
