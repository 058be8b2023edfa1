/**
 * Runs calls of mutators. Calls of one turn, or during a commit, share the next commit: each runs on the rows that the
 * calls before it have made.
 */

import { AbortableWait } from '../../base/abortable-wait.js';
import { keptValue } from '../../base/check-value.js';
import { isDevelopment } from '../../base/development.js';
import { HedgerowError, isRefusal } from '../../base/errors.js';
import { MAX_HOLD_MS } from '../../base/limits.js';
import { memberOf } from '../../base/runtime-type-checks.js';
import { forEachInSlices } from '../../core/for-each-in-slices.js';
import { Transactions } from '../../engine/transaction/run.js';
import type { Run } from '../../engine/transaction/transaction.js';
import { tryEdits } from '../../engine/write/try-edits.js';
import type { RefMove } from '../../storage/segment-store.js';
import type { EditQueue } from './queue.js';
import { isInMutator, runMutator } from './run-mutator.js';
import { QueueMovedError, type ServerContext } from './server-context.js';
import type { Mutator } from './types.js';

/** The most calls of one commit. */
const MAX_CALLS = 1000;

/** A call of a mutator. */
interface Call {
  readonly name: string;
  /** The arguments as JSON text. */
  readonly args: string;
  readonly timestamp: number;
  /** Refs that move with the commit of this call. */
  readonly along: readonly RefMove[];
  resolve(value: unknown): void;
  reject(cause: unknown): void;
}

/** The result of a call that ran. */
type Outcome = { readonly value: unknown } | { readonly error: unknown } | 'slow';

const isMade = (outcome: Outcome): boolean => outcome !== 'slow' && 'value' in outcome;

/** The error when no call has anything to commit. */
class NothingToCommitError extends Error {}

/**
 * Returns arguments as text. Throws `invalid-argument/value` unless they are JSON; in development also if JSON changes
 * them.
 */
function textOf(args: unknown): string {
  const text = keptValue(args);
  if (typeof text !== 'string')
    throw new HedgerowError('invalid-argument/value', 'arguments must be JSON');
  if (isDevelopment) {
    JSON.stringify(args, function (this: Record<string, unknown>, name, value) {
      if (!(this[name] instanceof Date)) return value;
      const message = `mutators: ${name || 'the argument'} is a Date, which JSON makes a text: give its time or its text`;
      throw new HedgerowError('invalid-argument/value', message);
    });
  }
  return text;
}

export class CallRunner {
  readonly #context: ServerContext;
  readonly #waiting: Call[] = [];
  #making: Promise<void> | undefined;

  constructor(context: ServerContext) {
    this.#context = context;
  }

  /** Settles when no call waits for its commit. */
  get over(): Promise<void> | undefined {
    return this.#making;
  }

  /** Runs a mutator and puts the call into the queue, in one commit. Resolves to the mutator's result. */
  async make(name: string, args: unknown, along: readonly RefMove[] = []): Promise<unknown> {
    const { store, shared, options } = this.#context;
    store.check();
    if (isInMutator(shared.host)) {
      const message = `mutators: ${name} is called in a mutator, which would wait for itself: call its function with tx`;
      throw new HedgerowError('invalid-argument', message);
    }
    if (!Object.hasOwn(options.mutators, name)) {
      throw new HedgerowError('invalid-argument', `there is no mutator ${name}`);
    }
    const text = textOf(args ?? null);
    const timestamp = Date.now();
    const isAlone = along.length > 0;
    if (isAlone) await this.over;
    return new Promise((resolve, reject) => {
      const call = { name, args: text, timestamp, along, resolve, reject };
      if (isAlone) return void store.changes.note(this.#commit([call], true));
      this.#waiting.push(call);
      this.#making ??= store.changes.note(this.#makeAll());
    });
  }

  /** Makes the call that a mutator returned as its `undo`. */
  async undo(done: unknown): Promise<unknown> {
    const [call, ...others] = Object.entries(Object(memberOf(done, 'undo')));
    if (call !== undefined && others.length === 0) return this.make(...call);
    const message =
      'undo takes what a call has returned: { undo: { mutator: args } }, with one mutator';
    throw new HedgerowError('invalid-argument', message);
  }

  async #makeAll(): Promise<void> {
    await null;
    while (this.#waiting.length > 0) await this.#commit(this.#waiting.splice(0, MAX_CALLS));
    this.#making = undefined;
  }

  /** Makes calls, and settles their promises. A slow call does not hold up the others. */
  async #commit(calls: readonly Call[], isAlone = false): Promise<void> {
    const { shared, local, queue, store, durability } = this.#context;
    let outcomes: readonly Outcome[] = [];
    const along = calls.flatMap((call) => call.along);
    const edit: EditQueue = () => {
      const { record } = queue;
      const { refs } = shared.inventory;
      if (along.some(({ name, expected }) => refs.get(name)?.generation !== expected))
        throw new QueueMovedError();
      const puts = calls
        .filter((_, at) => isMade(outcomes[at] as Outcome))
        .map(({ name, args, timestamp }, nth) => {
          const [id, place] = [record.nextID + nth, record.nextPlace + nth];
          return { place, id, name, args: JSON.parse(args), timestamp };
        });
      const [nextID, nextPlace] = [record.nextID + puts.length, record.nextPlace + puts.length];
      return { record: { ...record, nextID, nextPlace }, puts, along };
    };
    const body = async (run: Run) => {
      outcomes = await this.#runAll(run, calls, isAlone);
      if (!outcomes.some(isMade)) throw new NothingToCommitError();
    };
    const { host } = shared;
    try {
      await new Transactions(host, local).runWhole(body, {
        durability,
        waits: store.changes.waits,
        commit: (edits) =>
          queue.together(local, edit, (partner) =>
            tryEdits(host, local, durability, edits.blocks(), { partner }),
          ),
      });
    } catch (cause) {
      if (calls.length > 1 && isRefusal(cause)) {
        // The writes of one of them are refused. The error does not say which one: bisect.
        const half = calls.length >> 1;
        await this.#commit(calls.slice(0, half));
        return this.#commit(calls.slice(half));
      }
      if (!(cause instanceof NothingToCommitError)) {
        for (const { reject } of calls) reject(cause);
        return;
      }
    }
    for (const [at, call] of calls.entries()) {
      const outcome = outcomes[at] as Outcome;
      if (outcome === 'slow') void store.changes.note(this.#commit([call], true));
      else if ('value' in outcome) call.resolve(outcome.value);
      else call.reject(outcome.error);
    }
  }

  /** Runs calls one by one. It leaves out a call that runs at two looks, `MAX_HOLD_MS` apart, unless it is alone. */
  async #runAll(run: Run, calls: readonly Call[], isAlone: boolean): Promise<Outcome[]> {
    const { shared, options } = this.#context;
    const outcomes: Outcome[] = [];
    const slow = new Error('slow');
    let wait = new AbortableWait(undefined);
    let seen = -1;
    const watch = () => {
      if (seen === outcomes.length) wait.fail(slow);
      seen = outcomes.length;
    };
    const timer = isAlone ? undefined : setInterval(watch, MAX_HOLD_MS);
    try {
      await forEachInSlices(shared.host, calls, async ({ name, args }) => {
        const mutator = options.mutators[name] as Mutator;
        try {
          const value = await runMutator(run, mutator, JSON.parse(args), (result) =>
            wait.for(result),
          );
          outcomes.push({ value });
        } catch (error) {
          outcomes.push(error === slow ? 'slow' : { error });
          if (error === slow) wait = new AbortableWait(undefined);
        }
      });
    } finally {
      clearInterval(timer);
    }
    return outcomes;
  }
}
