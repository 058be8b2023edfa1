/** In Firefox, work waits for frames between slices. The test has its own clock and frames. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

const GECKO = 'Mozilla/5.0 (X11; Linux x86_64; rv:153.0) Gecko/20100101 Firefox/153.0';
const CHROMIUM = 'Mozilla/5.0 (X11) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0';

let nowMs = 0;
let frames: (() => void)[] = [];
let whenDrawn: (next: () => void) => void;

/** Runs one slice of 8 ms; returns whether the next slice began at once. */
function slice(): boolean {
  let isNext = false;
  nowMs += 8;
  whenDrawn(() => {
    isNext = true;
  });
  return isNext;
}

async function inBrowser(userAgent: string, visibilityState = 'visible'): Promise<void> {
  vi.stubGlobal('navigator', { userAgent });
  vi.stubGlobal('document', { visibilityState });
  vi.resetModules();
  ({ whenDrawn } = await import('../../src/base/let-firefox-draw.js'));
}

beforeEach(() => {
  vi.useFakeTimers();
  nowMs = 10_000;
  frames = [];
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
  vi.stubGlobal('requestAnimationFrame', (frame: () => void) => frames.push(frame));
});

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

describe('work in slices', () => {
  it('waits for a frame after every second slice in Firefox', async () => {
    await inBrowser(GECKO);
    slice();
    for (let round = 0; round < 3; round++) {
      expect(slice()).toBe(true);
      let isNext = false;
      nowMs += 8;
      whenDrawn(() => {
        isNext = true;
      });
      expect(isNext).toBe(false);
      frames.pop()?.();
      expect(isNext).toBe(true);
    }
    // No timer is left that would continue the work a second time.
    vi.advanceTimersByTime(100);
    expect(slice()).toBe(true);
  });

  it('does not wait after a pause: short work ends without a frame', async () => {
    await inBrowser(GECKO);
    for (let round = 0; round < 5; round++) {
      nowMs += 60;
      expect([slice(), slice()]).toEqual([true, true]);
    }
  });

  it('continues without frames when no frame comes, and does not wait for frames for a second', async () => {
    await inBrowser(GECKO);
    slice();
    slice();
    let isNext = false;
    nowMs += 8;
    whenDrawn(() => {
      isNext = true;
    });
    nowMs += 30;
    vi.advanceTimersByTime(30);
    expect(isNext).toBe(true);
    const endMs = nowMs + 1000;
    while (nowMs < endMs) expect(slice()).toBe(true);
    slice();
    expect(slice()).toBe(false);
  });

  it('waits for no frame in a worker, which has `requestAnimationFrame`, too', async () => {
    await inBrowser(GECKO);
    vi.stubGlobal('document', undefined);
    for (let at = 0; at < 10; at++) expect(slice()).toBe(true);
  });

  it('does not wait for a frame in a hidden page or in other engines', async () => {
    await inBrowser(GECKO, 'hidden');
    for (let at = 0; at < 10; at++) expect(slice()).toBe(true);
    await inBrowser(CHROMIUM);
    for (let at = 0; at < 10; at++) expect(slice()).toBe(true);
  });
});
