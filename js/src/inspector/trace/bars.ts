/** The newest bars of a trace, each told to the browser's own tools as a measure. */

import type { TracedBar } from './trace-view.js';

/** Bars that are kept for the inspector: half a minute of slices. */
const MAX_BARS = 4000;
/** Before all names, since measures of the app are among them in some tools. */
export const PREFIX = 'hedgerow: ';

/** Where a bar is drawn in the performance panel of Chromium. */
const TRACKS = {
  call: { track: 'calls', color: 'primary' },
  slice: { track: 'slices', color: 'secondary' },
  callback: { track: 'callbacks of watches', color: 'tertiary' },
} as const;

/** What else is told of a bar. */
export type Details = Readonly<Record<string, string>>;

export class Bars {
  readonly all: TracedBar[] = [];
  count = 0;
  /** Callbacks of watches outlive the trace. */
  isOver = false;
  readonly #store: string;
  readonly #minMs: number;

  /** Shorter ones are not told. */
  constructor(store: string, minMs: number) {
    this.#store = store;
    this.#minMs = minMs;
  }

  add(kind: TracedBar['kind'], name: string, startMs: number, details: Details = {}): void {
    this.put(kind, name, startMs, performance.now(), details);
  }

  put(
    kind: TracedBar['kind'],
    name: string,
    startMs: number,
    endMs: number,
    details: Details = {},
  ): void {
    const durationMs = endMs - startMs;
    if (this.isOver || durationMs < this.#minMs) return;
    this.count += 1;
    this.all.push({ kind, name, startMs, durationMs });
    if (this.all.length > MAX_BARS) this.all.shift();
    const { track, color } = TRACKS[kind];
    const title = `${PREFIX}${name}`;
    performance.measure(title, {
      start: startMs,
      end: endMs,
      detail: {
        devtools: {
          dataType: 'track-entry',
          trackGroup: 'Hedgerow',
          track: `${this.#store || 'the store without a name'}: ${track}`,
          color: details.failed === undefined ? color : 'error',
          properties: Object.entries(details),
        },
      },
    });
    // Tools and observers have it; the page would keep all of them.
    performance.clearMeasures(title);
  }
}
