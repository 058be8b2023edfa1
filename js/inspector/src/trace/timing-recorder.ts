/** Keeps the newest bars of a trace, and reports each to the browser's own tools as a measure. */

import type { TracedBar } from './cross-window-trace-types.js';

/** Bars that are kept for the inspector: half a minute of slices. */
const MAX_BARS = 4000;
/** The prefix of all names: some tools mix them with measures of the app. */
export const PREFIX = 'hedgerow: ';

/** The track and colour of a bar in the performance panel of Chromium. */
const TRACKS = {
  call: { track: 'calls', color: 'primary' },
  slice: { track: 'slices', color: 'secondary' },
  callback: { track: 'callbacks of watches', color: 'tertiary' },
} as const;

/** Further properties of a bar. */
export type Details = Readonly<Record<string, string>>;

export class Bars {
  readonly all: TracedBar[] = [];
  count = 0;
  /** Whether the trace is over: callbacks of watches outlive it. */
  isOver = false;
  readonly #store: string;
  readonly #minMs: number;

  /** Bars shorter than `minMs` are not reported. */
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
    // Tools and observers have the measure by now; the page would keep all measures.
    performance.clearMeasures(title);
  }
}
