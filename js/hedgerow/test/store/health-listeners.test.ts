/** A store reports changes in the health of its storage to its listeners. */
import { describe, expect, it, vi } from 'vitest';
import { HedgerowError } from '../../src/base/errors.js';
import { destroy, memory } from '../../src/index.js';
import type { WriteBatch } from '../../src/storage/segment-store.js';
import { HealthListeners, healthOf } from '../../src/store/storage-health-listeners.js';
import { HealthTracker } from '../../src/store/storage-health-tracker.js';
import { faulty } from '../support/doubles/faulty-storage.js';
import { kindOf } from '../support/error-kind.js';
import { SOON } from '../support/models/store-model.js';
import { forSeeds } from '../support/property.js';
import { random } from '../support/random.js';
import {
  BROKEN,
  cleansUp,
  LOST,
  of,
  open,
  platform,
  QUOTA,
  settled,
  TELL_MS,
  told,
} from '../support/worlds/health-world.js';

cleansUp();

const segments = [{ id: 1, segmentBytes: new Uint8Array(9), tableBytes: new Uint8Array(9) }];
const to = { commitBytes: new Uint8Array(32), generation: 2, format: 1, expected: 1 };
const move = { ...to, name: 'main' };
const durability = 'relaxed';
const COMMIT: WriteBatch = { segments, move, durability };
/** A commit of rows, a batch of a collection, a deletion, and a move of a ref. */
const BATCHES = [
  COMMIT,
  { segments, durability },
  { segments, move, durability, freesSpace: true },
  { segments: [], move, durability },
] as const;

describe('onHealth', () => {
  it('calls no listener while all is well, and measures only for listeners', async () => {
    const { storage: manager } = platform();
    const db = await open('a', { storage: of('origin') });
    for (let at = 0; at < 100; at++) await db.put('a', at);
    expect(manager.estimate).not.toHaveBeenCalled();
    const listener = vi.fn();
    db.health.subscribe(listener);
    for (let at = 0; at < 100; at++) await db.put('a', at);
    await settled();
    expect(listener).not.toHaveBeenCalled();
    // At the call of `onHealth`, and not again within 10 s.
    expect(manager.estimate).toHaveBeenCalledTimes(1);
  });

  it('soon reports a problem that exists already', async () => {
    const { told: answers } = platform({ quota: 1000, usage: 999 });
    const db = await open('a', { storage: of('origin') });
    const near = vi.fn();
    db.health.subscribe(near);
    await vi.waitFor(() => expect(told(near)).toEqual(['best-effort near']), SOON);
    const inMemory = vi.fn();
    answers.usage = 0;
    (await open('b', { storage: memory() })).health.subscribe(inMemory);
    await vi.waitFor(() => expect(told(inMemory)).toEqual(['ephemeral']), SOON);
  });

  it('reports that the quota comes near while much is written, and not after each write', async () => {
    const { told: answers, storage: manager } = platform();
    const db = await open('a', { storage: of('origin') });
    const listener = vi.fn();
    db.health.subscribe(listener);
    await settled();
    answers.usage = answers.quota;
    const puts = async (count: number) => {
      for (let at = 0; at < count; at++) await db.put('a', random(at).bytes(1 << 20));
    };
    await puts(15);
    await settled();
    expect(listener).not.toHaveBeenCalled();
    await puts(1);
    await vi.waitFor(() => expect(told(listener)).toEqual(['best-effort near']), SOON);
    expect(manager.estimate).toHaveBeenCalledTimes(2);
  });

  it('survives a listener that throws or rejects, and so do the others', async () => {
    const report = vi.fn();
    vi.stubGlobal('reportError', report);
    platform({ quota: 1000, usage: 999 });
    const db = await open('a', { storage: of('origin') });
    const [thrown, rejected] = [new Error('thrown'), new Error('rejected')];
    const last = vi.fn();
    db.health.subscribe(() => {
      throw thrown;
    });
    db.health.subscribe(async () => {
      throw rejected;
    });
    db.health.subscribe(last);
    await vi.waitFor(() => expect(last).toHaveBeenCalledOnce(), SOON);
    await settled();
    expect(report.mock.calls.flat()).toEqual([thrown, rejected]);
    await db.put('a', 1);
  });

  it('ends when it is stopped, and counts one function twice', async () => {
    const storage = faulty(of('origin'));
    const db = await open('a', { storage });
    const listener = vi.fn();
    const stop = db.health.subscribe(listener);
    db.health.subscribe(listener);
    stop();
    stop();
    storage.fail({ call: 'write', at: 1, lasting: true, when: 'before', error: BROKEN });
    await db.put('a', 1).catch(() => {});
    await settled();
    expect(listener).toHaveBeenCalledOnce();
  });

  it('ends with the store, and reports once more when it was deleted', async () => {
    for (const isDeleted of [false, true]) {
      const storage = of('origin');
      const db = await open('a', { storage });
      const listener = vi.fn();
      db.health.subscribe(listener);
      await settled();
      if (isDeleted) await destroy('a', { storage });
      else await db.close();
      await settled();
      expect(told(listener)).toEqual(isDeleted ? ['failing closed'] : []);
    }
  });

  it('reports each change once, at most once a second, whatever fails and works', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    try {
      await forSeeds(100, async (from, _seed, begin) => {
        const watch = new HealthTracker(of('origin'));
        const states: string[] = [];
        let [atMs, expected] = [-Infinity, ''];
        // A listener must not judge: its exceptions are only reported.
        const gaps: number[] = [];
        const stop = watch.on(({ state, cause }) => {
          gaps.push(performance.now() - atMs);
          atMs = performance.now();
          states.push(`${state} ${kindOf(cause)}`);
        });
        await vi.advanceTimersByTimeAsync(2 * TELL_MS);
        // The last result of each kind of call, as the documentation defines it.
        const last: { read?: HedgerowError | undefined; write?: HedgerowError | undefined } = {};
        for (let step = 0; step < 40; step++) {
          const kind = from.pick(['read', 'write'] as const);
          const other = kind === 'read' ? 'write' : 'read';
          const error = from.pick([undefined, undefined, QUOTA, LOST, BROKEN]);
          const batch = kind === 'write' ? from.pick(BATCHES) : undefined;
          begin({ kind, code: kindOf(error), batch: batch && BATCHES.indexOf(batch) });
          if (error === undefined) {
            watch.onSuccess(kind, batch);
            const isRoom = kind === 'read' || batch === COMMIT;
            if (isRoom || last[kind] !== QUOTA) last[kind] = undefined;
            if (last[other] === LOST) last[other] = undefined;
          } else {
            watch.onFailure(kind, error);
            last[kind] = error;
          }
          if (from.below(2) > 0) continue;
          await vi.advanceTimersByTimeAsync(2 * TELL_MS);
          const cause = last.write ?? last.read;
          const now = `${cause ? 'failing' : 'best-effort'} ${kindOf(cause)}`;
          expect(await healthOf(watch)).toMatchObject({ cause });
          expect(states.at(-1) ?? 'best-effort undefined').toBe(now);
          expected = now;
        }
        for (const [at, state] of states.entries()) expect(state).not.toBe(states[at - 1]);
        expect(expected).not.toBe('');
        stop();
        for (const gap of gaps) expect(gap).toBeGreaterThanOrEqual(TELL_MS);
      });
    } finally {
      vi.useRealTimers();
    }
  });

  it('reports a failed look, and the next look reports the health', async () => {
    const report = vi.fn();
    vi.stubGlobal('reportError', report);
    platform({ quota: 1000, usage: 999 });
    const error = new HedgerowError('unavailable/not-loaded', 'for a test');
    const look = vi.spyOn(HealthListeners.prototype, 'look').mockRejectedValueOnce(error);
    const watch = new HealthTracker(of('origin'));
    const listener = vi.fn();
    watch.on(listener);
    await vi.waitFor(() => expect(report.mock.calls).toEqual([[error]]), SOON);
    expect(listener).not.toHaveBeenCalled();
    watch.look();
    await vi.waitFor(() => expect(told(listener)).toEqual(['best-effort near']), SOON);
    look.mockRestore();
  });
});
