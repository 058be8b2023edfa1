/** The query that a component shows for its present arguments. For all frameworks. */

import { live, liveCount, liveRow } from '../index.js';
import type { LiveView } from '../live-view.js';
import type { LiveCountState, LiveRowState, LiveState, LiveStatus } from '../types.js';

/** Arguments of `live`, `liveRow` or `liveCount`. */
export type Args = unknown[];

/** One of these calls. */
export interface LiveCall<State extends LiveStatus> {
  readonly begin: (...args: Args) => LiveView<State, Args>;
  /** The number of arguments that must be there. */
  readonly least: number;
  /** The state that is shown without them. */
  readonly loading: State;
}

function kindOf<State extends LiveStatus>(
  begin: unknown,
  least: number,
  own: object,
): LiveCall<State> {
  const loading = { status: 'loading', ...own, isStale: false, error: undefined };
  return { begin: begin as LiveCall<State>['begin'], least, loading: loading as unknown as State };
}

export const ROWS = /* @__PURE__ */ kindOf<LiveState<unknown>>(live, 1, { rows: [], offset: 0 });
export const ROW = /* @__PURE__ */ kindOf<LiveRowState<unknown>>(liveRow, 2, { value: undefined });
export const COUNT = /* @__PURE__ */ kindOf<LiveCountState>(liveCount, 1, { count: undefined });

/**
 * Returns whether two arguments are surely the same: options, and sources of an app, may have been changed in place.
 */
const isSame = (one: unknown, other: unknown) =>
  Object.is(one, other) &&
  (Object(one) !== one || typeof (one as { watch?: unknown }).watch === 'function');

/**
 * A query as it is shown for certain arguments. It does not change, but makes the `next` one: a render has no effects.
 */
export class ObservedQuery<State extends LiveStatus> {
  readonly #kind: LiveCall<State>;
  readonly #args: Args;
  /** The live view of these arguments, or of earlier ones if these were refused. */
  readonly #shown: LiveView<State, Args> | undefined;
  /** The state that is shown instead of the live view. */
  readonly #still: State | undefined;

  private constructor(
    kind: LiveCall<State>,
    args: Args,
    shown?: LiveView<State, Args>,
    still?: State,
  ) {
    this.#kind = kind;
    this.#args = args;
    this.#shown = shown;
    this.#still = still;
  }

  /** Makes a query that is `loading`. */
  static of<State extends LiveStatus>(kind: LiveCall<State>): ObservedQuery<State> {
    return new ObservedQuery(kind, [], undefined, kind.loading);
  }

  /** Returns the state that is shown: the same object until a part of it has changed. */
  readonly get = (): State => this.#still ?? (this.#shown as LiveView<State, Args>).get();

  /** Calls `listener` after each change; returns a function that stops it. */
  readonly subscribe = (listener: () => void): (() => void) =>
    this.#still === undefined
      ? (this.#shown as LiveView<State, Args>).subscribe(listener)
      : () => {};

  /** Begins again after a failure: at once if there are listeners, otherwise when it is shown next. */
  readonly renew = (): void => this.#shown?.renew();

  /**
   * Returns the query of other arguments, or this one if they are equal by value. The last state stays until there is a
   * new one.
   */
  next(args: Args): ObservedQuery<State> {
    const [kind, own, shown, still] = [this.#kind, this.#args, this.#shown, this.#still];
    if (args.length === own.length && args.every((one, at) => isSame(one, own[at]))) return this;
    for (let at = 0; at < kind.least; at++) {
      if (args[at] == null) return still === kind.loading ? this : ObservedQuery.of(kind);
    }
    try {
      const next = shown?.next(...args) ?? kind.begin(...args);
      return next === shown && still === undefined ? this : new ObservedQuery(kind, args, next);
    } catch (error) {
      if (still !== undefined && String(still.error) === String(error)) return this;
      const last = this.get();
      const isStale = last.status !== 'loading';
      return new ObservedQuery(kind, args, shown, { ...last, status: 'error', isStale, error });
    }
  }
}
