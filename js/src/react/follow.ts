/** Keeps the rows of a scan up to date. */

import type { Exactly } from '../base/exactly.js';
import { compareKeys } from '../base/key.js';
import type { Change, Store } from '../index.js';
import { isOfIndex } from '../indexes/index-set.js';
import { optionsOfPlan, type ScanOptions, type ScanPlan, UNLIMITED } from '../read/scan-options.js';
import { changed, type Row, reconciled } from './rows.js';

/** A store or a branch of one: the members that hooks use. */
export type Watchable = Pick<Store, 'watch' | 'scan'> & Partial<Pick<Store, 'onRecovery'>>;

/** The rows to show, or the error. */
export interface Shown {
  readonly status: 'ready' | 'error';
  /** The rows; after an error, the last ones before it. */
  readonly rows: readonly Row[];
  readonly error: unknown;
}

const NONE: readonly Row[] = [];

/** Keeps the rows of a scan up to date. `before` are the rows that were shown last, if any. */
export function followScan(
  db: Watchable,
  plan: ScanPlan,
): (set: (state: Shown) => void, before?: readonly Row[]) => () => void {
  // `cut`, `wait` and `signal` matter only to the scan itself.
  const {
    range,
    reverse,
    offset,
    limit,
  }: Exactly<ScanPlan, 'range' | 'cut' | 'reverse' | 'offset' | 'limit' | 'wait' | 'signal'> = plan;
  const own: ScanOptions = optionsOfPlan(plan);
  const isIndex = isOfIndex(range);
  return (set, before) => {
    let shown = before;
    let isFirst = true;
    let isOver = false;
    const show = (rows: readonly Row[]) => {
      shown = rows;
      set({ status: 'ready', rows, error: undefined });
    };
    const onError = (error: unknown) => {
      if (!isOver) set({ status: 'error', rows: shown ?? NONE, error });
    };
    const keep = (take: (changes: readonly Change[]) => unknown, initial: boolean) => {
      // After that, rows would not be kept up to date: show none that are read later.
      const onEnd = (error: unknown) => {
        onError(error);
        isOver = true;
      };
      try {
        const stop = db.watch(range, take, { initial, onError: onEnd });
        return () => {
          isOver = true;
          stop();
        };
      } catch (error) {
        onEnd(error);
        return () => {};
      }
    };
    if (offset === 0 && limit === UNLIMITED && !isIndex) {
      return keep((changes) => {
        const rows = changed(isFirst ? NONE : (shown ?? NONE), changes, reverse);
        show(isFirst ? reconciled(shown ?? NONE, rows) : rows);
        isFirst = false;
      }, true);
    }

    // A watch does not report which row moves into the window when another one leaves it: scan again.
    let hasFailed = false;
    let reading = Promise.resolve();
    const read = () => {
      reading = reading.then(async () => {
        if (isOver) return;
        try {
          const rows = reconciled(shown ?? NONE, await db.scan(own).toArray());
          if (isOver || (rows === shown && !hasFailed && !isFirst)) return;
          hasFailed = false;
          isFirst = false;
          show(rows);
        } catch (error) {
          hasFailed = true;
          onError(error);
        }
      });
      return reading;
    };
    const isBelow = ({ key }: Change) => {
      const last = shown?.at(-1);
      if (isIndex || hasFailed || isFirst || shown?.length !== limit) return false;
      return last === undefined || (reverse ? -1 : 1) * compareKeys(key, last[0]) > 0;
    };
    // The promise of `read` delays the next call of the watch until it has settled.
    const stop = keep((changes) => (changes.every(isBelow) ? undefined : read()), false);
    void read();
    return stop;
  };
}
