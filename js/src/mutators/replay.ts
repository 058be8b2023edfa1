/** Runs calls again, on the rows of the server. */
import { HedgerowError } from '../base/errors.js';
import { checkSignal, until } from '../base/signal.js';
import type { HeldHead } from '../history/branch-head.js';
import { Base } from '../transaction/base.js';
import { OwnEdits } from '../transaction/edits.js';
import { Run, Transaction } from '../transaction/transaction.js';
import type { ServerContext } from './context.js';
import { copyOf, type QueuedCall } from './queue.js';
import { inSlices } from './slices.js';

/** A call without an effect, and why. */
export interface Rejection {
  readonly call: QueuedCall;
  readonly error: unknown;
}

/** The calls of a queue as edits of the rows of the server. */
export class Replay {
  readonly #context: ServerContext;
  readonly #base: Base;
  readonly edits: OwnEdits;
  readonly rejections: Rejection[] = [];
  /** The place of the last call that ran. */
  upTo = 0;
  #running: Promise<void> = Promise.resolve();

  /** Of the commit that is held, which it releases at its end. */
  constructor(context: ServerContext, held: HeldHead) {
    this.#context = context;
    this.#base = new Base(held);
    this.edits = new OwnEdits(context.local);
  }

  get view(): number {
    return this.#base.view;
  }

  get commitBytes(): Uint8Array {
    return this.#base.commitBytes;
  }

  end(): void {
    this.#base.close();
  }

  /** Runs all calls that have come since, in slices, once those are done that it runs already. */
  catchUp(signal: AbortSignal | undefined): Promise<void> {
    this.#running = this.#running.then(() => this.#catchUp(signal));
    return this.#running;
  }

  #catchUp(signal: AbortSignal | undefined): Promise<void> {
    const { queue, shared } = this.#context;
    // Not those that are made meanwhile: it would not end before they do.
    const waiting = queue.waiting(this.upTo, queue.record.nextPlace - 1);
    return inSlices(shared, waiting, async (call) => {
      checkSignal(signal);
      await this.#run(call, signal);
      this.upTo = call.place;
    });
  }

  async #run(call: QueuedCall, signal: AbortSignal | undefined): Promise<void> {
    const { shared, local, options } = this.#context;
    const { mutators } = options;
    const { name } = call;
    const mutator = Object.hasOwn(mutators, name) ? mutators[name] : undefined;
    if (mutator === undefined) {
      const error = new HedgerowError('unsupported', `no mutator ${name}`);
      this.rejections.push({ call, error });
      return;
    }
    const undo = this.edits.mark();
    const run = new Run(shared.host, local, this.#base, this.edits);
    try {
      await until(mutator(new Transaction(run), copyOf(call.args)) as PromiseLike<unknown>, signal);
    } catch (error) {
      undo();
      if (isOfStore(error)) throw error;
      this.rejections.push({ call, error });
    } finally {
      run.end();
    }
  }
}

/** Whether the store has failed, and not what the mutator did. */
function isOfStore(error: unknown): boolean {
  return error instanceof HedgerowError && !error.code.startsWith('invalid-');
}
