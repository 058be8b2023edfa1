/** Measures calls of handles, from the call to the end of their promise, or of the loop over their rows. */

import type { Store } from 'hedgerow';
import { kindOfError } from 'hedgerow/kit';
import type { BucketConnection } from 'hedgerow/sync';
import { replaceMethod } from './replace-method.js';
import type { Bars, Details } from './timing-recorder.js';

/** The calls of a handle that take time: the compiler reports one that a list lacks. */
type TimedMethods<T> = {
  readonly [Name in keyof T & string as T[Name] extends (
    ...args: never[]
  ) => PromiseLike<unknown> | AsyncIterable<unknown>
    ? Name
    : never]: 1;
};

export const STORE_CALLS: TimedMethods<Store> = {
  applyPatch: 1,
  at: 1,
  clear: 1,
  close: 1,
  connect: 1,
  count: 1,
  delete: 1,
  deleteMany: 1,
  get: 1,
  getMany: 1,
  has: 1,
  insert: 1,
  prove: 1,
  put: 1,
  putMany: 1,
  rank: 1,
  scan: 1,
  transaction: 1,
  update: 1,
};

/** The measured calls of the namespaces of a store. */
export const NAMESPACE_CALLS: {
  readonly [Name in 'branches' | 'history' | 'health' | 'backup']: TimedMethods<Store[Name]>;
} = {
  branches: { delete: 1, list: 1, merge: 1, open: 1, preview: 1, reset: 1, switchTo: 1 },
  history: { commit: 1, diff: 1, revert: 1, since: 1, sinceFork: 1 },
  health: { compact: 1, get: 1, persist: 1, repair: 1, stats: 1, verify: 1 },
  backup: { export: 1 },
};

export const LINK_CALLS: TimedMethods<BucketConnection> = {
  close: 1,
  collect: 1,
  conflicts: 1,
  forgetConflicts: 1,
  isPending: 1,
  pendingCount: 1,
  prefetch: 1,
  pull: 1,
  push: 1,
  repair: 1,
  rejoin: 1,
  stop: 1,
};

const MAX_WORDS = 80;

/** Formats a range, without its signal. */
export function rangeText(range: object): string {
  const { signal: _, ...rest } = range as { signal?: unknown };
  return JSON.stringify(rest).slice(0, MAX_WORDS);
}

/** Returns the key or range of a call, if its first argument is one. */
function aboutOf(first: unknown): Details {
  if (typeof first === 'string') return { about: first.slice(0, MAX_WORDS) };
  const { prefix, index } = Object(first) as { prefix?: unknown; index?: unknown };
  const isRange = typeof prefix === 'string' || typeof index === 'string';
  return isRange ? { about: rangeText({ prefix, index }) } : {};
}

const failureOf = (cause: unknown): Details => ({
  failed: kindOfError(cause) ?? String(cause).slice(0, MAX_WORDS),
});

/** A function that reports a call which ends now. */
type Tell = (details?: Details) => void;

/**
 * Reports when a promise settles. Returns a promise of the same, so that the browser still reports an unhandled
 * failure.
 */
function tellWhenSettled<T>(
  promise: PromiseLike<T>,
  tell: Tell,
  onResult?: (value: T) => void,
): PromiseLike<T> {
  return promise.then(
    (value) => {
      tell();
      onResult?.(value);
      return value;
    },
    (cause) => {
      tell(failureOf(cause));
      throw cause;
    },
  );
}

/** Measures a loop from its first step to its last one, with the work of its body. */
function timedLoop(iterator: AsyncIterator<unknown>, tell: Tell): AsyncIterator<unknown> {
  let isOver = false;
  const end: Tell = (details) => {
    if (!isOver) tell(details);
    isOver = true;
  };
  replaceMethod(iterator, 'next', (next) => () => {
    const step = next() as Promise<IteratorResult<unknown>>;
    step.then(
      ({ done }) => done && end(),
      (cause) => end(failureOf(cause)),
    );
    return step;
  });
  replaceMethod(iterator, 'return', (finish) => (value: never) => {
    end();
    return finish(value);
  });
  return iterator;
}

/** The measured calls of one object. */
export class MeasuredCalls {
  readonly #bars: Bars;
  readonly #prefix: string;

  /** `prefix` stands before the names of calls. */
  constructor(bars: Bars, prefix = '') {
    this.#bars = bars;
    this.#prefix = prefix;
  }

  /**
   * Measures the calls of `names` on an object, which are shown with `prefix`; `onResult` gets their results. Returns a
   * function that undoes this.
   */
  measure(
    object: object,
    names: object,
    onResult: (name: string, result: unknown) => void = () => {},
    prefix = '',
  ): () => void {
    const undo = Object.keys(names).map((name) =>
      replaceMethod(object, name, (original) => (...args) => {
        const call = () => original(...args);
        const shown = prefix + name;
        return this.#measureCall(shown, args[0], call, (result) => onResult(shown, result));
      }),
    );
    return () => {
      for (const one of undo) one();
    };
  }

  #measureCall(
    name: string,
    first: unknown,
    call: () => unknown,
    onResult: (result: unknown) => void,
  ): unknown {
    const startMs = performance.now();
    const result = call();
    const { then, [Symbol.asyncIterator]: iterate } = Object(result) as Partial<
      PromiseLike<unknown> & AsyncIterable<unknown>
    >;
    const about = aboutOf(first);
    if (typeof then === 'function') {
      const tell = this.#teller(name, about, startMs);
      return tellWhenSettled(result as Promise<unknown>, tell, onResult);
    }
    if (typeof iterate === 'function') this.#rows(result as object, name, about);
    return result;
  }

  /** Measures reads of rows, which begin in one of these ways. */
  #rows(rows: object, name: string, about: Details): void {
    const begin = () => this.#teller(name, about, performance.now());
    replaceMethod(rows, Symbol.asyncIterator, (iterate) => () => {
      return timedLoop(iterate() as AsyncIterator<unknown>, begin());
    });
    for (const way of ['toArray', 'first']) {
      replaceMethod(
        rows,
        way,
        (read) => () => tellWhenSettled(read() as Promise<unknown>, begin()),
      );
    }
    for (const part of ['keys', 'values']) {
      replaceMethod(rows, part, (take) => () => {
        const taken = take() as object;
        this.#rows(taken, `${name}.${part}`, about);
        return taken;
      });
    }
  }

  #teller(name: string, about: Details, startMs: number): Tell {
    return (details) =>
      this.#bars.add('call', this.#prefix + name, startMs, { ...about, ...details });
  }
}
