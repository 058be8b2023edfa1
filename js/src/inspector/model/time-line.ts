/**
 * What kept the inspected page busy, as its browser reports it: long tasks (of 50 ms and more, whoever caused them), and
 * measures that the app has made by `performance.measure`. Hedgerow's own slices are shorter, and make no entries.
 */

/** One bar of the strip. */
export interface Bar {
  readonly kind: 'task' | 'measure' | 'inspector';
  readonly name: string;
  readonly startMs: number;
  readonly durationMs: number;
}

/** Bars that are kept; older ones are forgotten. */
const MAX_BARS = 2000;

const KINDS = { longtask: 'task', measure: 'measure' } as const;
type Entry = Pick<PerformanceEntry, 'entryType' | 'name' | 'startTime' | 'duration'>;

/** The bars of a page, by its own clock. */
export class TimeLine {
  readonly #bars: Bar[] = [];
  readonly #stops: (() => void)[] = [];
  readonly #listeners = new Set<() => void>();

  /** The bars, as they came. */
  get bars(): readonly Bar[] {
    return this.#bars;
  }

  /** Adds entries of a page; of other kinds than those of this strip none. */
  take(entries: readonly Entry[]): void {
    for (const { entryType, name, startTime, duration } of entries) {
      const kind = KINDS[entryType as keyof typeof KINDS];
      if (kind === undefined) continue;
      const title = kind === 'task' ? 'long task' : name;
      this.add({ kind, name: title, startMs: startTime, durationMs: duration });
    }
  }

  /** Adds one bar. */
  add(bar: Bar): void {
    this.#bars.push(bar);
    if (this.#bars.length > MAX_BARS) this.#bars.shift();
    for (const listener of this.#listeners) listener();
  }

  /** Calls a listener after each new bar; returns how to stop. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Follows a page of this origin. Returns the kinds of entries that its browser reports. */
  follow(page: Window & typeof globalThis): string[] {
    const supported = page.PerformanceObserver?.supportedEntryTypes ?? [];
    const wanted = Object.keys(KINDS).filter((type) => supported.includes(type));
    for (const type of wanted) {
      const observer = new page.PerformanceObserver((list) => this.take(list.getEntries()));
      observer.observe({ type, buffered: true });
      this.#stops.push(() => observer.disconnect());
    }
    return wanted;
  }

  /** Follows no page any more. */
  stop(): void {
    for (const stop of this.#stops.splice(0)) stop();
  }
}

/** A bar with the row of the strip that it is on, so that none covers another. */
export interface PlacedBar {
  readonly bar: Bar;
  readonly row: number;
}

/** Puts bars on as few rows as they need: of those that overlap the longer ones come first. */
export function placed(bars: readonly Bar[]): PlacedBar[] {
  const ends: number[] = [];
  const inOrder = [...bars].sort((a, b) => a.startMs - b.startMs || b.durationMs - a.durationMs);
  return inOrder.map((bar) => {
    let row = ends.findIndex((end) => end <= bar.startMs);
    if (row < 0) row = ends.length;
    ends[row] = bar.startMs + bar.durationMs;
    return { bar, row };
  });
}
