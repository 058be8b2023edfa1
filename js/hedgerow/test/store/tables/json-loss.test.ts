/** The warnings of development builds about values that plain JSON loses. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { isDevelopment } from '../../../src/base/development.js';
import { lossOf } from '../../../src/store/tables/values/find-json-loss.js';
import { expectSame, storeOf } from '../../support/models/store-model.js';
import { forSeeds } from '../../support/property.js';

class Money {
  toJSON() {
    return { cents: 5 };
  }
}

describe('the loss of plain JSON', () => {
  it.each([
    ['a Date', new Date(0), /'structured'/],
    ['a function', () => 1, /function/],
    ['a symbol', Symbol('s'), /symbol/],
  ])('%s is one', (_, lost, what) => {
    const places: readonly (readonly [string, unknown])[] = [
      ['', lost],
      ['/at', { a: 1, at: lost }],
      ['/a~1b/1/~0', { 'a/b': [0, { '~': lost }] }],
    ];
    for (const [pointer, value] of places) {
      expect(lossOf(value)).toEqual({ pointer, what: expect.stringMatching(what) });
    }
  });

  it('other values that the store takes are no loss', async () => {
    const kept = [
      1,
      null,
      undefined,
      { a: undefined },
      new Money(),
      { of: [new Money()] },
      new Uint8Array(2),
    ];
    for (const value of kept) expect(lossOf(value)).toBe(undefined);
    const db = await storeOf();
    await forSeeds(100, async (from) => {
      const value = from.value();
      expect(lossOf(value)).toBe(undefined);
      await db.put('k', value);
      expectSame(await db.get('k'), value);
    });
  });

  it('ends for a circular value', () => {
    const circle: Record<string, unknown> = { a: 1 };
    circle.one = circle;
    circle.other = circle;
    expect(lossOf(circle)).toMatchObject({ what: expect.stringMatching(/circular/) });
  });
});

describe('isDevelopment', () => {
  afterEach(() => {
    vi.unstubAllEnvs();
    vi.unstubAllGlobals();
    vi.resetModules();
  });
  const again = async () => {
    vi.resetModules();
    return (await import('../../../src/base/development.js')).isDevelopment;
  };
  /** In browsers Vite has replaced the expression, as bundlers do. */
  const isReplaced = typeof document !== 'undefined';

  it('is false in production, and without a process, unless it was replaced', async () => {
    expect(isDevelopment).toBe(true);
    vi.stubEnv('NODE_ENV', 'production');
    expect(await again()).toBe(isReplaced);
    vi.unstubAllEnvs();
    vi.stubGlobal('process', undefined);
    expect(await again()).toBe(isReplaced);
  });
});
