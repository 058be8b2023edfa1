/** Locks among handles of one process follow the rules of Web Locks. */
import { describe, expect, it } from 'vitest';
import { localLocks } from '../../src/base/local-locks.js';

const tick = () => new Promise((resolve) => setTimeout(resolve, 0));

/** Requests a lock; `state` shows whether it is held, and releases it. */
function ask(locks: ReturnType<typeof localLocks>, mode: 'shared' | 'exclusive', name = 'a') {
  const state = { isHeld: false, end: () => {} };
  const ended = new Promise<void>((resolve) => {
    state.end = resolve;
  });
  const done = locks.request(name, { mode }, async () => {
    state.isHeld = true;
    await ended;
    return mode;
  });
  return { state, done };
}

describe('local locks', () => {
  it('are granted in the order of requests: shared ones together, exclusive ones alone', async () => {
    const locks = localLocks();
    const modes = ['shared', 'shared', 'exclusive', 'exclusive', 'shared'] as const;
    const asked = modes.map((mode) => ask(locks, mode));
    const held = () => asked.map(({ state }) => state.isHeld);
    await tick();
    expect(held()).toEqual([true, true, false, false, false]);
    asked[0]?.state.end();
    await tick();
    expect(held()).toEqual([true, true, false, false, false]);
    asked[1]?.state.end();
    await tick();
    expect(held()).toEqual([true, true, true, false, false]);
    asked[2]?.state.end();
    await tick();
    expect(held()).toEqual([true, true, true, true, false]);
    asked[3]?.state.end();
    await tick();
    expect(held()).toEqual([true, true, true, true, true]);
    asked[4]?.state.end();
    expect(await Promise.all(asked.map(({ done }) => done))).toEqual(modes);
    expect(await locks.query()).toEqual({ held: [] });
  });

  it('of different names do not wait for each other, and a query lists all held locks', async () => {
    const locks = localLocks();
    const asked = ['a', 'b', 'a'].map((name) => ask(locks, 'exclusive', name));
    await tick();
    expect(asked.map(({ state }) => state.isHeld)).toEqual([true, true, false]);
    expect(await locks.query()).toEqual({ held: [{ name: 'a' }, { name: 'b' }] });
    for (const { state } of asked) state.end();
    await Promise.all(asked.map(({ done }) => done));
  });

  it('are refused at once with `ifAvailable` when they are not available', async () => {
    const locks = localLocks();
    const held = ask(locks, 'shared');
    const isFree = (mode: 'shared' | 'exclusive') =>
      locks.request('a', { mode, ifAvailable: true }, async (lock) => lock !== null);
    expect([await isFree('exclusive'), await isFree('shared')]).toEqual([false, true]);
    held.state.end();
    await held.done;
    expect(await isFree('exclusive')).toBe(true);
  });

  it('leave the queue after an abort, and are released when their work fails', async () => {
    const locks = localLocks();
    const held = ask(locks, 'exclusive');
    const abort = new AbortController();
    const { signal } = abort;
    const waiting = locks.request('a', { signal }, async () => 'never');
    const behind = ask(locks, 'exclusive');
    abort.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    await expect(locks.request('a', { signal }, async () => 1)).rejects.toThrow('enough');
    held.state.end();
    await tick();
    expect(behind.state.isHeld).toBe(true);
    behind.state.end();
    const fails = locks.request('a', {}, () => Promise.reject(new Error('mine')));
    await expect(fails).rejects.toThrow('mine');
    expect(await locks.query()).toEqual({ held: [] });
  });
});
