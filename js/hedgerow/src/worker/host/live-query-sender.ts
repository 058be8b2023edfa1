/** Sends the states of a live query to the page that mirrors it, each as its difference from the state before. */
import type { Live, LiveCount, LiveCountState, LiveState } from '../../live/index.js';
import type { ListSender } from './list-batch-sender.js';

/**
 * The message after the parts of a state. The parts replace the rows from `from` to `to`, as numbers of old rows or
 * `[row]`.
 */
export interface StatePatch {
  readonly from: number;
  readonly to: number;
  readonly status: 'loading' | 'ready' | 'error';
  readonly isStale: boolean;
  readonly error: unknown;
  /** The count, or the offset of the rows. */
  readonly number: number | undefined;
}

/** Sends a patch after its parts; resolves when the page has taken it. */
export type Tell = (patch: StatePatch) => Promise<void>;

const NONE: readonly unknown[] = [];

/** Counts the rows that two lists have in common at their starts, or at their ends. */
function countCommon(a: readonly unknown[], b: readonly unknown[], isEnd: boolean, most: number) {
  const at = (list: readonly unknown[], n: number) => list[isEnd ? list.length - 1 - n : n];
  let count = 0;
  while (count < most && at(a, count) === at(b, count)) count += 1;
  return count;
}

export class LiveQuerySender {
  readonly #shown: Live<unknown> | LiveCount;
  readonly #outlet: ListSender;
  readonly #tell: Tell;
  readonly #stop: () => void;
  /** The number of states sent. */
  #sent = 0;
  /** The rows of the state sent last, and of the state before. */
  #rows: readonly unknown[];
  #old: readonly unknown[];
  #last: LiveState<unknown> | LiveCountState | undefined;
  #isBusy = false;
  #isOver = false;

  /** The page has `rows` already. */
  constructor(
    shown: Live<unknown> | LiveCount,
    outlet: ListSender,
    tell: Tell,
    rows: readonly unknown[] = NONE,
  ) {
    this.#shown = shown;
    this.#outlet = outlet;
    this.#tell = tell;
    this.#rows = rows;
    this.#old = rows;
    this.#stop = shown.subscribe(() => void this.#send());
    void this.#send();
  }

  /** Sends states until the page has the newest one. */
  async #send(): Promise<void> {
    if (this.#isBusy) return;
    this.#isBusy = true;
    for (
      let now = this.#shown.get();
      now !== this.#last && !this.#isOver;
      now = this.#shown.get()
    ) {
      this.#last = now;
      // A query that is loading has no rows to show yet.
      if (now.status !== 'loading') await this.#sendState(now);
    }
    this.#isBusy = false;
  }

  async #sendState(state: LiveState<unknown> | LiveCountState): Promise<void> {
    const { status, isStale, error } = state;
    const [old, rows] = [this.#rows, 'rows' in state ? state.rows : NONE];
    const least = Math.min(old.length, rows.length);
    const from = old === rows ? least : countCommon(old, rows, false, least);
    const end = countCommon(old, rows, true, least - from);
    const to = old.length - end;
    const places = new Map(old.slice(from, to).map((row, at) => [row, from + at]));
    const middle = rows.slice(from, rows.length - end);
    await this.#outlet.addAll(middle.map((row) => places.get(row) ?? [row]));
    if (this.#isOver) return;
    const number = 'count' in state ? state.count : state.offset;
    this.#sent += 1;
    this.#old = old;
    this.#rows = rows;
    await this.#tell({ from, to, status, isStale, error, number });
  }

  /** Returns the rows of the page after it has taken `taken` states. */
  rowsOf(taken: unknown): readonly unknown[] {
    return taken === this.#sent ? this.#rows : this.#old;
  }

  end(): void {
    this.#isOver = true;
    this.#stop();
    this.#shown.close();
  }
}
