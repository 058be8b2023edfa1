/** What a trace of an app's page shows to the inspector's page, which reads it from the other window. */

/** A global of the app's page: the traces under way. Symbols of this kind are the same in all windows of an origin. */
export const TRACED: unique symbol = Symbol.for('hedgerow.traced') as never;

/** A call, a slice of work, or a call of a watch's callback, by the clock of its page. */
export interface TracedBar {
  readonly kind: 'call' | 'slice' | 'callback';
  readonly name: string;
  readonly startMs: number;
  readonly durationMs: number;
}

/** A watch that has not ended; live queries are among them. */
export interface TracedWatch {
  readonly branch: string;
  /** Its range, as JSON. */
  readonly range: string;
  /** How often its callback was called, and for how many changes: a count has none. */
  readonly calls: number;
  readonly changes: number;
  readonly longestMs: number;
}

/** A remote, or an app's own server. */
export interface TracedLink {
  readonly name: string;
  /** Of its loop, if it has one. */
  readonly status: string;
  readonly requests: number | undefined;
  readonly sentBytes: number | undefined;
  readonly receivedBytes: number | undefined;
}

/** What is known of one store of a page. */
export interface TracedStore {
  readonly store: string;
  /** The newest ones, as they ended. */
  readonly bars: readonly TracedBar[];
  /** How many there were: it grows by one with each. */
  readonly count: number;
  watches(): TracedWatch[];
  links(): TracedLink[];
}

/** Of a window: its traces, if it has any. */
export type TracingWindow = { readonly [TRACED]?: ReadonlySet<TracedStore> };
