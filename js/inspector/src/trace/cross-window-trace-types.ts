/** The view of the traces in an app's page, which the inspector's page reads from the other window. */

/**
 * The global of the app's page that has the traces under way. Such symbols are the same in all windows of an origin.
 */
export const TRACED: unique symbol = Symbol.for('hedgerow.traced') as never;

/** A call, a slice of work, or a call of a watch's callback, by the clock of its page. */
export interface TracedBar {
  readonly kind: 'call' | 'slice' | 'callback';
  readonly name: string;
  readonly startMs: number;
  readonly durationMs: number;
}

/** A watch that has not ended, also of a live query. */
export interface TracedWatch {
  readonly branch: string;
  /** Its range, as JSON. */
  readonly range: string;
  /** The calls of its callback, and the changes in them: calls of a count have no changes. */
  readonly calls: number;
  readonly changes: number;
  readonly longestMs: number;
}

/** A connection to a bucket, or to an app's own server. */
export interface TracedLink {
  readonly name: string;
  /** The status of its loop, if it has one. */
  readonly status: string;
  readonly requests: number | undefined;
  readonly sentBytes: number | undefined;
  readonly receivedBytes: number | undefined;
}

/** The trace of one store of a page. */
export interface TracedStore {
  readonly store: string;
  /** The newest bars, in the order of their ends. */
  readonly bars: readonly TracedBar[];
  /** The number of all bars so far. */
  readonly count: number;
  watches(): TracedWatch[];
  links(): TracedLink[];
}

/** A window with its traces, if it has any. */
export type TracingWindow = { readonly [TRACED]?: ReadonlySet<TracedStore> };
