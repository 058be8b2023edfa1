/** A loop holds the thread for a part, and lets the page run between parts. */
import { afterEach, expect, it, vi } from 'vitest';
import { Slicer } from '../../src/base/slicer.js';

afterEach(() => {
  vi.restoreAllMocks();
});

/** Sets the clock to the returned object's time, in milliseconds. */
function clock(): { ms: number } {
  const time = { ms: 0 };
  vi.spyOn(performance, 'now').mockImplementation(() => time.ms);
  return time;
}

it('a part is over after its time', async () => {
  const time = clock();
  const slicer = new Slicer({ partMs: 3 });
  time.ms = 2.9;
  expect(slicer.step()).toBe(false);
  time.ms = 3;
  expect(slicer.step()).toBe(true);
  await slicer.rest();
  expect(slicer.step()).toBe(false);
  time.ms = 6;
  expect(slicer.step()).toBe(true);
});

it('it reads the clock only every few steps', () => {
  const time = clock();
  const slicer = new Slicer({ clockSteps: 4 });
  time.ms = 100;
  expect(Array.from({ length: 8 }, () => slicer.step())).toEqual(
    Array.from({ length: 8 }, (_, at) => at % 4 === 3),
  );
  expect(vi.mocked(performance.now).mock.calls).toHaveLength(3);
});

it('a part that is begun late leaves out the time of others', () => {
  const time = clock();
  const slicer = new Slicer({ partMs: 3 });
  time.ms = 50;
  slicer.begin();
  time.ms = 52;
  expect(slicer.step()).toBe(false);
});
