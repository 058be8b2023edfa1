/**
 * Records what kept the inspected page busy. Its browser reports long tasks (50 ms and more, of any code), and measures
 * that the app has made by `performance.measure`. Its traces report calls, slices and callbacks of watches.
 */

import {
  TRACED,
  type TracedBar,
  type TracedStore,
  type TracingWindow,
} from '../trace/cross-window-trace-types.js';
import { PREFIX } from '../trace/timing-recorder.js';

/** One bar of the strip. */
export interface Bar {
  readonly kind: 'task' | 'measure' | 'inspector' | TracedBar['kind'];
  readonly name: string;
  readonly startMs: number;
  readonly durationMs: number;
}

/** Bars that are kept; older ones are forgotten. */
const MAX_BARS = 6000;

const KINDS = { longtask: 'task', measure: 'measure' } as const;
type Entry = Pick<PerformanceEntry, 'entryType' | 'name' | 'startTime' | 'duration'>;

/** The bars of a page, by its own clock. */
export class TimeLine {
  readonly #bars: Bar[] = [];
  readonly #stops: (() => void)[] = [];
  readonly #listeners = new Set<() => void>();
  #page: TracingWindow | undefined;
  /** The number of bars taken from each trace. */
  readonly #taken = new WeakMap<TracedStore, number>();

  /** The bars, in the order in which they came. */
  get bars(): readonly Bar[] {
    return this.#bars;
  }

  /** Adds entries of a page, of the kinds that the strip shows. */
  take(entries: readonly Entry[]): void {
    for (const { entryType, name, startTime, duration } of entries) {
      const kind = KINDS[entryType as keyof typeof KINDS];
      // Traces report their own measures, also earlier ones.
      if (kind === undefined || name.startsWith(PREFIX)) continue;
      const title = kind === 'task' ? 'long task' : name;
      this.add({ kind, name: title, startMs: startTime, durationMs: duration });
    }
  }

  /** Adds bars, and forgets the oldest ones above the limit. */
  add(...bars: readonly Bar[]): void {
    if (bars.length === 0) return;
    this.#bars.push(...bars);
    this.#bars.splice(0, this.#bars.length - MAX_BARS);
    for (const listener of this.#listeners) listener();
  }

  /** The traces of the followed page, in its present document. */
  get traces(): readonly TracedStore[] {
    return [...(this.#page?.[TRACED] ?? [])];
  }

  /** Takes the bars that traces of the page have reported since the last look. */
  look(): void {
    for (const one of this.traces) {
      const isNew = one.count - (this.#taken.get(one) ?? 0);
      this.#taken.set(one, one.count);
      if (isNew > 0) this.add(...one.bars.slice(-isNew));
    }
  }

  /** Calls a listener after each new bar; returns a function that stops this. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Follows a page of this origin. Returns the kinds of entries that its browser reports. */
  follow(page: Window & typeof globalThis): string[] {
    this.#page = page as TracingWindow;
    const supported = page.PerformanceObserver?.supportedEntryTypes ?? [];
    const wanted = Object.keys(KINDS).filter((type) => supported.includes(type));
    for (const type of wanted) {
      const observer = new page.PerformanceObserver((list) => this.take(list.getEntries()));
      observer.observe({ type, buffered: true });
      this.#stops.push(() => observer.disconnect());
    }
    return wanted;
  }

  /** Stops following the page. */
  stop(): void {
    for (const stop of this.#stops.splice(0)) stop();
  }
}

/** A bar with its row of the strip, where it covers no other bar. */
export interface PlacedBar {
  readonly bar: Bar;
  readonly row: number;
}

/** Puts bars on as few rows as they need: of bars that begin together, the longer ones come first. */
export function packBars(bars: readonly Bar[]): PlacedBar[] {
  const ends: number[] = [];
  const inOrder = [...bars].sort((a, b) => a.startMs - b.startMs || b.durationMs - a.durationMs);
  return inOrder.map((bar) => {
    let row = ends.findIndex((end) => end <= bar.startMs);
    if (row < 0) row = ends.length;
    ends[row] = bar.startMs + bar.durationMs;
    return { bar, row };
  });
}

/**
 * Joins bars of one kind and name that are shorter than `gapMs`, and nearer to each other: a person could not see one
 * alone.
 */
export function joinBars(bars: readonly Bar[], gapMs: number): Bar[] {
  const last = new Map<string, { bar: Bar; count: number; longestMs: number }>();
  const all: Bar[] = [];
  const end = ({ bar, count, longestMs }: { bar: Bar; count: number; longestMs: number }) =>
    all.push(
      count === 1
        ? bar
        : { ...bar, name: `${count} × ${bar.name}, longest ${longestMs.toFixed(1)} ms` },
    );
  for (const bar of bars) {
    const key = `${bar.kind} ${bar.name}`;
    const before = last.get(key);
    const endMs = bar.startMs + bar.durationMs;
    const isNear =
      before !== undefined &&
      bar.durationMs < gapMs &&
      Math.abs(bar.startMs - before.bar.startMs - before.bar.durationMs) < gapMs;
    if (isNear) {
      before.bar = { ...before.bar, durationMs: endMs - before.bar.startMs };
      before.count += 1;
      before.longestMs = Math.max(before.longestMs, bar.durationMs);
      continue;
    }
    if (before !== undefined) end(before);
    last.set(key, { bar, count: 1, longestMs: bar.durationMs });
  }
  for (const one of last.values()) end(one);
  return all;
}
