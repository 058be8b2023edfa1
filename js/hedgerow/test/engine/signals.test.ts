/**
 * Every await of the whole API hears its signal: whenever a signal is aborted, the call settles within a few turns, the
 * store holds its old rows or the whole write, and `close` settles.
 */
import { describe, expect, it } from 'vitest';
import { turn } from '../../src/base/slice-queue.js';
import { open } from '../../src/index.js';
import { failure, within } from '../support/models/store-model.js';
import { forSampled, forSteps } from '../support/property.js';
import { CALLS, type End, sceneOf, settles, standing, TURNS, watchedCall } from './signal-calls.js';

const WAITS: [string, () => Promise<void>][] = [
  ['in the turn of the call', async () => {}],
  ...[1, 2, 3, 4, 5, 7, 9, 12, 16, 24, 40].map((count): [string, () => Promise<void>] => [
    `${count} microtasks later`,
    async () => {
      for (let at = 0; at < count; at++) await null;
    },
  ]),
  ...Array.from({ length: 30 }, (_, last): [string, () => Promise<void>] => [
    `${last + 1} turns later`,
    async () => {
      for (let at = 0; at <= last; at++) await turn();
    },
  ]),
];

describe('a signal', () => {
  for (const call of CALLS) {
    it(`of ${call.title} is heard whenever it is aborted`, async () => {
      const { db, ...rest } = await sceneOf();
      const scene = { db, ...rest };
      const before = await standing(db);
      const held = db.snapshot();
      const gone = AbortSignal.abort('mine');
      const first = watchedCall(call.run(scene, gone));
      const refused = await settles(first, 'before the call');
      expect(refused).toEqual({ cause: failure('aborted', { cause: 'mine' }) });
      expect(await standing(db)).toBe(before);
      await forSampled(WAITS, async ([when, wait]) => {
        const abort = new AbortController();
        const state = watchedCall(call.run(scene, abort.signal));
        await wait();
        abort.abort('mine');
        const end = await settles(state, when, scene.storage);
        const now = await standing(db);
        if ('cause' in end) {
          expect(end, when).toEqual({ cause: failure('aborted', { cause: 'mine' }) });
          expect(now, when).toBe(before);
        } else if (now !== before) {
          await db.branches.reset(held);
          expect(await standing(db)).toBe(before);
        }
      });
      held.close();
      await within(db.close());
    });
  }

  for (const call of CALLS) {
    it(`of ${call.title} is heard while any call of storage is pending`, async () => {
      const end = await forSteps(async (step) => {
        const nth = step + 1;
        const scene = await sceneOf(0);
        const { db, storage } = scene;
        const before = await standing(db);
        const abort = new AbortController();
        storage.stickAt(nth);
        const state = watchedCall(call.run(scene, abort.signal));
        // By the clock: blobs are read outside of the turns.
        const until = performance.now() + 10_000;
        while (performance.now() < until && storage.stuck === 'no' && state.end === undefined) {
          await turn();
        }
        const { stuck } = storage;
        if (stuck === 'no') {
          // The call made fewer storage calls.
          expect(state.end, `${nth}`).toBeDefined();
          await within(db.close());
          return false;
        }
        abort.abort('mine');
        if (stuck === 'commit') {
          // The outcome of the commit decides.
          for (let at = 0; at < TURNS; at++) await turn();
          storage.release();
          await within(
            (async () => {
              while (state.end === undefined) await turn();
            })(),
          );
        } else {
          await settles(state, `at call ${nth} of storage`);
          storage.release();
        }
        const end = state.end as End;
        await within(db.close());
        const again = await open('signals', { storage });
        if ('cause' in end) {
          expect(end, `at call ${nth}`).toEqual({ cause: failure('aborted', { cause: 'mine' }) });
          expect(await standing(again), `at call ${nth}`).toBe(before);
        }
        await again.close();
        return true;
      });
      // All calls but a small one wait for storage.
      expect(end).toBeGreaterThan((call.reads ?? 1) - 1);
    });
  }
});
