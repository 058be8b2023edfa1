/** Lists the watches of a handle that begin from now on, and measures their callbacks. */

import type { BranchWatches } from 'hedgerow/kit';
import type { TracedWatch } from './cross-window-trace-types.js';
import { rangeText } from './measured-calls.js';
import { replaceMethod } from './replace-method.js';
import type { Bars } from './timing-recorder.js';

type Watch = { -readonly [Name in keyof TracedWatch]: TracedWatch[Name] };
type Arguments = Parameters<BranchWatches['watch']>;

/** Notes a call of a callback. */
function noteCallback(watch: Watch, bars: Bars, startMs: number, changes: unknown): void {
  watch.calls += 1;
  if (Array.isArray(changes)) watch.changes += changes.length;
  watch.longestMs = Math.max(watch.longestMs, performance.now() - startMs);
  bars.add('callback', 'callback', startMs, { range: watch.range });
}

/** The watches of one handle. */
export class Watches {
  readonly #all = new Set<Watch>();
  readonly #undo: (() => void)[];

  /** Calls `onClose` when the handle is closed, in any way. */
  constructor(watchers: BranchWatches, branch: () => string, bars: Bars, onClose: () => void) {
    const closing = replaceMethod(watchers, 'close', (close) => (...args) => {
      onClose();
      return close(...args);
    });
    const watching = replaceMethod(watchers, 'watch', (original) => {
      return (...[range, callback, options, load]: Arguments | never[]) => {
        // The original method handles arguments that begin no watch.
        if (typeof callback !== 'function' || options?.signal?.aborted) {
          return original(range, callback, options, load);
        }
        const watch: Watch = {
          branch: branch(),
          range: rangeText(range as object),
          calls: 0,
          changes: 0,
          longestMs: 0,
        };
        const end = () => this.#all.delete(watch);
        const own: Arguments[1] = (changes, at) => {
          const startMs = performance.now();
          try {
            return callback(changes, at);
          } finally {
            noteCallback(watch, bars, startMs, changes);
          }
        };
        const { onError, signal } = options ?? {};
        const fail = (cause: unknown) => {
          end();
          onError?.(cause);
        };
        const how = onError === undefined ? options : { ...options, onError: fail };
        const stop = original(range, own, how, load) as () => void;
        this.#all.add(watch);
        signal?.addEventListener('abort', end, { once: true });
        return () => {
          end();
          stop();
        };
      };
    });
    this.#undo = [closing, watching];
  }

  list(): TracedWatch[] {
    return [...this.#all].map((watch) => ({ ...watch }));
  }

  stop(): void {
    for (const one of this.#undo) one();
    this.#all.clear();
  }
}
