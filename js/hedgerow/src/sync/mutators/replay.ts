/** Runs calls again, on the rows of the server. */

import { checkSignal, until } from '../../base/abort-signal.js';
import { HedgerowError, isRefusal } from '../../base/errors.js';
import { forEachInSlices } from '../../core/for-each-in-slices.js';
import type { HeldHead } from '../../engine/history/branch-head.js';
import { TransactionBase } from '../../engine/transaction/base-commit.js';
import { OwnEdits } from '../../engine/transaction/edits.js';
import { Run } from '../../engine/transaction/transaction.js';
import { copyOf, type QueuedCall } from './queue.js';
import { runMutator } from './run-mutator.js';
import type { ServerContext } from './server-context.js';

/** A call without an effect, with the reason. */
export interface Rejection {
  readonly call: QueuedCall;
  readonly error: unknown;
  /** Whether it stays in the queue: another version of the app has made it, and a server may know its mutator. */
  readonly isPending: boolean;
}

/** The calls of a queue as edits of the rows of the server. */
export class Replay {
  readonly #context: ServerContext;
  readonly #run: Run;
  readonly rejections: Rejection[] = [];
  /** The place of the last call that ran. */
  upTo = 0;
  #running: Promise<void> = Promise.resolve();

  /** Runs on the held commit, and releases it at the end. */
  constructor(context: ServerContext, held: HeldHead) {
    this.#context = context;
    const { shared, local } = context;
    this.#run = new Run(shared.host, new TransactionBase(held), new OwnEdits(local));
  }

  get edits(): OwnEdits {
    return this.#run.edits;
  }

  get view(): number {
    return this.#run.view;
  }

  get commitBytes(): Uint8Array {
    return this.#run.base.commitBytes;
  }

  end(): void {
    this.#run.base.close();
  }

  /** Runs all calls that have come since, in slices, after the calls that it runs already. */
  catchUp(signal: AbortSignal | undefined): Promise<void> {
    this.#running = this.#running.then(() => this.#catchUp(signal));
    return this.#running;
  }

  #catchUp(signal: AbortSignal | undefined): Promise<void> {
    const { queue, shared } = this.#context;
    // Calls that are made during this run wait: it would not end before they do.
    const waiting = queue.waiting(this.upTo, queue.record.nextPlace - 1);
    return forEachInSlices(shared.host, waiting, async (call) => {
      checkSignal(signal);
      await this.#make(call, signal);
      this.upTo = call.place;
    });
  }

  async #make(call: QueuedCall, signal: AbortSignal | undefined): Promise<void> {
    const { mutators } = this.#context.options;
    const { name } = call;
    const mutator = Object.hasOwn(mutators, name) ? mutators[name] : undefined;
    if (mutator === undefined) {
      const error = new HedgerowError('unsupported', `no mutator ${name}`);
      this.rejections.push({ call, error, isPending: true });
      return;
    }
    try {
      await runMutator(this.#run, mutator, copyOf(call.args), (result) => until(result, signal));
    } catch (error) {
      if (isOfStore(error)) throw error;
      this.rejections.push({ call, error, isPending: false });
    }
  }
}

/** Returns whether the store has failed, and not the mutator. */
function isOfStore(error: unknown): boolean {
  return error instanceof HedgerowError && !isRefusal(error);
}
