/** Slices keep their length with a coarse clock, which some browsers have. */
import { describe, expect, it } from 'vitest';
import { SlicePace } from '../../src/base/slice-queue.js';
import { random } from '../support/random.js';

const SLICE_MS = 8;

/**
 * Returns the lengths of the slices of a few seconds of work. The work does `perMs` units in a millisecond; the
 * clock ticks every `grain` milliseconds.
 */
function slices(
  pace: SlicePace,
  grain: number,
  perMs: number,
  seconds: number,
  seed: number,
): number[] {
  const from = random(seed);
  const startMs = from.next() * 1000;
  let nowMs = startMs;
  const tell = () => Math.floor(nowMs / grain) * grain;
  const lengths: number[] = [];
  while (nowMs < startMs + 1000 * seconds) {
    // Other tasks run in between.
    nowMs += from.next() * 10;
    const { units } = pace;
    const before = tell();
    const ms = units / perMs;
    nowMs += ms;
    pace.learn(units, tell() - before);
    lengths.push(ms);
  }
  return lengths;
}

const at = (sorted: readonly number[], part: number) =>
  sorted[Math.floor(part * sorted.length)] ?? 0;

for (const grain of [0.005, 0.1, 1, 16, 100]) {
  describe(`by a clock that ticks every ${grain} ms`, () => {
    for (const first of [0.1, 1, 5]) {
      it(`slices reach their length from a guess of ${first} x the truth, and keep it`, () => {
        for (let seed = 1; seed <= 20; seed++) {
          const pace = new SlicePace(SLICE_MS, first * 50_000);
          const begun = slices(pace, grain, 50_000, 5 + grain / 4, seed);
          // No guess makes the length worse.
          expect(Math.max(...begun)).toBeLessThan(Math.max(2, first) * SLICE_MS);
          const sorted = slices(pace, grain, 50_000, 40, seed).sort((a, b) => a - b);
          expect(at(sorted, 0.5), `median, seed ${seed}`).toBeGreaterThan(4);
          expect(at(sorted, 0.01), `shortest, seed ${seed}`).toBeGreaterThan(2);
          expect(at(sorted, 0.99), `longest, seed ${seed}`).toBeLessThan(1.5 * SLICE_MS);
        }
      });
    }

    it('slices become shorter soon after the work becomes slower', () => {
      for (let seed = 1; seed <= 20; seed++) {
        const pace = new SlicePace(SLICE_MS, 50_000);
        slices(pace, grain, 50_000, 5 + grain / 4, seed);
        slices(pace, grain, 10_000, 0.2 + grain / 15, seed);
        const after = slices(pace, grain, 10_000, 5, seed);
        expect(Math.max(...after), `seed ${seed}`).toBeLessThan(2 * SLICE_MS);
      }
    });
  });
}
