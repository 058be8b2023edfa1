/** Clocks. Garbage of the preparation is collected before a clock starts. */

declare global {
  /** Present when the run takes CPU profiles: starts and ends one. */
  var profiler: ((start: boolean) => Promise<void>) | undefined;
}

/** Lets the page come to rest. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Collects garbage and waits until the browser is done with it. */
export async function settle(): Promise<void> {
  await pause(50);
  // Chromium has it with `--js-flags=--expose-gc`, the other engines have no such call.
  globalThis.gc?.();
  await pause(150);
}

/** Times `work`, from a settled page. */
export async function timed<T>(work: () => Promise<T> | T): Promise<{ ms: number; result: T }> {
  await settle();
  await globalThis.profiler?.(true);
  const startMs = performance.now();
  const result = await work();
  const ms = performance.now() - startMs;
  await globalThis.profiler?.(false);
  return { ms, result };
}

/** Returns the value below which `share` of the values lie. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}

/** The figures of how alive the page was. */
export interface Watch {
  readonly frameGapMs: number;
  /** `undefined` where the browser does not report long tasks. */
  readonly longTaskMs: number | undefined;
}

/** Watches how alive the page is while `work` runs. */
export async function watched<T>(work: () => Promise<T>): Promise<Watch & { result: T }> {
  const tasks: PerformanceEntry[] = [];
  const hasTasks = PerformanceObserver.supportedEntryTypes.includes('longtask');
  const observer = new PerformanceObserver((list) => tasks.push(...list.getEntries()));
  if (hasTasks) observer.observe({ type: 'longtask' });
  let watching = true;
  let lastMs = performance.now();
  let frameGapMs = 0;
  const frame = () => {
    const now = performance.now();
    frameGapMs = Math.max(frameGapMs, now - lastMs);
    lastMs = now;
    if (watching) requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
  await pause(100);
  frameGapMs = 0;
  const startMs = performance.now();
  const result = await work();
  const endMs = performance.now();
  // One more frame: the gap that ends after the work belongs to it.
  await new Promise(requestAnimationFrame);
  watching = false;
  await pause(100);
  tasks.push(...observer.takeRecords());
  observer.disconnect();
  const during = tasks.filter(
    ({ startTime, duration }) => startTime < endMs && startTime + duration > startMs,
  );
  const longTaskMs = Math.max(0, ...during.map(({ duration }) => duration));
  return { result, frameGapMs, longTaskMs: hasTasks ? longTaskMs : undefined };
}

/** Returns the longest task as a further figure of a sample. */
export function longTask({ longTaskMs }: Watch): Readonly<Record<string, number>> {
  return longTaskMs === undefined ? {} : { 'longest task of 50 ms or more, ms': longTaskMs };
}
