/** A wait for other tabs has a limit, which counts only time in which this page could work. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { localLocks } from '../../src/base/local-locks.js';
import type { Locks } from '../../src/base/locks.js';
import { soon } from '../../src/base/pauses.js';
import { afterAwake, within, withLock } from '../../src/base/timeout.js';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** Advances the time without timers, as when the machine sleeps or the page is frozen. */
function sleep(ms: number): void {
  const before = performance.now();
  vi.spyOn(performance, 'now').mockImplementation(() => before + ms + (now() - before));
}

let now = () => 0;
beforeEach(() => {
  now = performance.now.bind(performance);
});

describe('a limit', () => {
  it('ends after its time, and not before', async () => {
    const over = vi.fn();
    afterAwake(1000, over);
    await vi.advanceTimersByTimeAsync(999);
    expect(over).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(over).toHaveBeenCalledOnce();
  });

  it('does not end because the machine slept', async () => {
    for (const atMs of [1, 300, 600, 990]) {
      const over = vi.fn();
      const stop = afterAwake(1000, over);
      await vi.advanceTimersByTimeAsync(atMs);
      sleep(3_600_000);
      // Timers that were due fire at once.
      await vi.advanceTimersByTimeAsync(250);
      expect(over, `slept at ${atMs}`).not.toHaveBeenCalled();
      await vi.advanceTimersByTimeAsync(1000);
      expect(over).toHaveBeenCalledOnce();
      stop();
      vi.restoreAllMocks();
    }
  });

  it('ends in a page that is always late', async () => {
    const over = vi.fn();
    let late = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => {
      late += 60_000;
      return now() + late;
    });
    afterAwake(1000, over);
    await vi.advanceTimersByTimeAsync(2000);
    expect(over).toHaveBeenCalledOnce();
  });

  it('never ends after it was cancelled', async () => {
    const over = vi.fn();
    const stop = afterAwake(1000, over);
    await vi.advanceTimersByTimeAsync(600);
    stop();
    await vi.advanceTimersByTimeAsync(5000);
    expect(over).not.toHaveBeenCalled();
  });
});

describe('within', () => {
  it('returns the result of a promise, or that the promise was too late', async () => {
    expect(await within(1000, Promise.resolve(7))).toBe(7);
    await expect(within(1000, Promise.reject(new Error('mine')))).rejects.toThrow('mine');
    const late = within(1000, new Promise(() => {}));
    await vi.advanceTimersByTimeAsync(1000);
    expect(await late).toBeUndefined();
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('withLock', () => {
  const never = () => new Promise<never>(() => {});

  it('runs functions under the lock, one after the other', async () => {
    const locks = localLocks();
    let running = 0;
    const work = async (hasLock: boolean) => {
      expect([hasLock, ++running]).toEqual([true, 1]);
      await Promise.resolve();
      running -= 1;
    };
    await Promise.all([1, 2, 3].map(() => withLock(locks, 'a', 1000, work)));
    expect(await locks.query()).toEqual({ held: [] });
  });

  it('runs without a lock that another holder does not release', async () => {
    const locks = localLocks();
    locks.request('a', {}, never);
    const working = withLock(locks, 'a', 1000, async (hasLock) => hasLock);
    await vi.advanceTimersByTimeAsync(1000);
    expect(await working).toBe(false);
    expect(await withLock(undefined, 'a', 1000, async (hasLock) => hasLock)).toBe(false);
  });

  it('runs where the browser refuses locks, and ends when the browser takes a lock away', async () => {
    const refusing: Locks = {
      request: () => Promise.reject(new DOMException('no', 'SecurityError')),
      query: async () => ({}),
    };
    expect(await withLock(refusing, 'a', 1000, async (hasLock) => hasLock)).toBe(false);
    const taking: Locks = {
      request: (_name, _options, hold) => {
        hold({}).catch(() => {});
        return Promise.reject(new DOMException('taken', 'AbortError'));
      },
      query: async () => ({}),
    };
    const work = vi.fn(async (hasLock: boolean) => hasLock);
    expect(await withLock(taking, 'a', 1000, work)).toBe(true);
    expect(work).toHaveBeenCalledOnce();
  });

  it('fails as the work does, or with the reason of a signal that comes first', async () => {
    const locks = localLocks();
    const fails = () => Promise.reject(new Error('mine'));
    await expect(withLock(locks, 'a', 1000, fails)).rejects.toThrow('mine');
    locks.request('a', {}, never);
    const abort = new AbortController();
    const work = vi.fn(async () => 1);
    const waiting = withLock(locks, 'a', 1000, work, abort.signal);
    abort.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    await expect(withLock(locks, 'b', 1000, work, abort.signal)).rejects.toThrow('enough');
    expect(work).not.toHaveBeenCalled();
    expect(vi.getTimerCount()).toBe(0);
  });
});

/** A page's own `document` cannot be replaced. */
function becomes(visibilityState: DocumentVisibilityState): void {
  if (Object.getOwnPropertyDescriptor(globalThis, 'document')?.configurable === false) {
    vi.spyOn(document, 'visibilityState', 'get').mockReturnValue(visibilityState);
  } else vi.stubGlobal('document', { visibilityState });
}

describe('a short pause', () => {
  it('is a timer in a visible page, and needs no timer in a hidden page', async () => {
    becomes('visible');
    const seen = soon(20);
    expect(vi.getTimerCount()).toBe(1);
    await vi.advanceTimersByTimeAsync(20);
    await seen;
    becomes('hidden');
    let ms = now();
    vi.spyOn(performance, 'now').mockImplementation(() => {
      ms += 1;
      return ms;
    });
    const before = ms;
    // The clock of timers stands still, so no timer fires.
    await soon(20);
    expect(ms - before).toBeGreaterThanOrEqual(20);
  });
});
