/** The wrapper takes tasks and base64 from the platform where it can. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { poster } from '../../src/base/post-task.js';
import { bytesOfBase64 } from '../../src/core/compile-packed-module.js';
import { random } from '../support/random.js';

const realTimeout = setTimeout;

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
  vi.restoreAllMocks();
});

describe('the next task', () => {
  it('comes under fake timers, too, so that a store can open', async () => {
    vi.resetModules();
    vi.useFakeTimers();
    // The import has no limit: a machine may take long for it.
    const { memory, open } = await import('../../src/index.js');
    const late = new Promise((_, reject) => {
      realTimeout(() => reject(new Error('it does not go on')), 20_000).unref();
    });
    const work = async () => {
      const db = await open('test', { storage: memory() });
      await db.putMany(Array.from({ length: 20_000 }, (_, at): [string, number] => [`k${at}`, at]));
      expect(await db.count()).toBe(20_000);
      await db.close();
    };
    await Promise.race([work(), late]);
  });

  it('uses Node only where Node exists', async () => {
    const standIn = vi.fn((run: () => void) => realTimeout(run, 0));
    vi.stubGlobal('setImmediate', standIn);
    const { nextTick } = process;
    vi.stubGlobal('process', { nextTick });
    await new Promise<void>((resolve) => poster(resolve)());
    expect(standIn).not.toHaveBeenCalled();
    vi.stubGlobal('process', { nextTick, versions: { node: '20.19.0' } });
    await new Promise<void>((resolve) => poster(resolve)());
    expect(standIn).toHaveBeenCalledOnce();
  });
});

describe('bytes in base64', () => {
  const texts = [0, 1, 2, 3, 4, 1000].map((length) => {
    const bytes = random(length).bytes(length);
    return [bytes, Buffer.from(bytes).toString('base64')] as const;
  });

  it('are decoded where the platform cannot', () => {
    for (const [bytes, text] of texts) expect(bytesOfBase64(text)).toEqual(bytes);
  });

  it('are decoded by the platform where it can', () => {
    const fromBase64 = vi.fn((text: string) => new Uint8Array(Buffer.from(text, 'base64')));
    Object.assign(Uint8Array, { fromBase64 });
    try {
      for (const [bytes, text] of texts) expect(bytesOfBase64(text)).toEqual(bytes);
      expect(fromBase64).toHaveBeenCalledTimes(texts.length);
    } finally {
      delete (Uint8Array as { fromBase64?: unknown }).fromBase64;
    }
  });
});
