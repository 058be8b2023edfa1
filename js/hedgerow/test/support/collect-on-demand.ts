import { onTestFinished, vi } from 'vitest';

/** Keeps collections from starting by themselves until the test ends: only calls of `compact` collect. */
export function collectOnDemand(): void {
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
}
