/** The connection of a store to the app's own server. */

import { notify } from '../../base/call-callback-safely.js';
import { checkNumber, optionsOf, SIGNAL_OPTIONS } from '../../base/check-options.js';
import { HedgerowError } from '../../base/errors.js';
import { sleep } from '../../base/pauses.js';
import { memberOf } from '../../base/runtime-type-checks.js';
import type { IndexBuilder } from '../../engine/write/background-index-builder.js';
import type { Progress } from '../../engine/write/write-result.js';
import { Connection, type ConnectionCall } from '../link/connection.js';
import { type CallOptions, PULL_OPTIONS, type PullOptions } from '../link/connection-state.js';
import type { RoundResult } from '../link/sync-loop.js';
import { CallRunner } from './call-runner.js';
import { mergeDraft } from './merge-branch-as-one-call.js';
import { pullServerRowsOnce, startOver } from './pull-server-rows.js';
import { pushAll } from './push-calls.js';
import type { EditQueue } from './queue.js';
import { RejectedCalls } from './rejected-calls.js';
import { failedHere } from './rejections.js';
import { replayQueue } from './replay-call-queue.js';
import { QueueMovedError, type ServerContext, unlessMoved } from './server-context.js';
import type {
  MergingName,
  MutatorCalls,
  MutatorPull,
  MutatorState,
  Mutators,
  PendingCall,
  Undoable,
  UndoResult,
} from './types.js';
import { UndoList } from './undo-list.js';

/** Times that a pull or a push begins again, since the server no longer knew this store, or another tab was first. */
const MAX_TRIES = 20;

/** A store and the app's own server: `db.connect(mutators(options))` makes it. */
export class MutatorConnection<M extends Mutators> extends Connection<MutatorPull, void, Progress> {
  readonly #context: ServerContext;
  readonly #builder: IndexBuilder | undefined;
  readonly #calls: CallRunner;
  readonly #undoList: UndoList;
  /** Calls the mutators: each runs at once on the rows that are here, and waits for the server in the queue. */
  readonly mutate: MutatorCalls<M>;
  /** Called when calls have come into the queue, in any tab. */
  #onCalls: () => void = () => {};
  #knownID: number;
  readonly #rejected: RejectedCalls;
  /** Earlier calls may have had no effect: another version of the app may have run. */
  #mustReplay: boolean;

  /** Call `db.connect()` instead. */
  constructor(context: ServerContext, builder: IndexBuilder | undefined) {
    const { store, queue } = context;
    super(store, 'server', queue.head.branchName);
    this.#context = context;
    this.#builder = builder;
    this.#calls = new CallRunner(context);
    this.#rejected = new RejectedCalls(queue);
    this.#undoList = new UndoList(
      (done) => this.#calls.undo(done),
      () => this.show(),
    );
    const closeBuilder = () => {
      if (builder) void store.changes.note(builder.close());
    };
    store.changes.closing.addEventListener('abort', closeBuilder, { once: true });
    this.#mustReplay = queue.size > 0;
    const names = Object.keys(context.options.mutators);
    const calls = names.map(
      (name) =>
        [name, (args: unknown) => this.#undoList.add(this.#calls.make(name, args))] as const,
    );
    this.#knownID = queue.record.nextID;
    queue.head.onMoved(() => this.#follow());
    this.mutate = Object.fromEntries(calls) as unknown as MutatorCalls<M>;
  }

  /** The state to show to a person. Without a loop, it still says whether calls wait. */
  override get state(): MutatorState {
    return super.state as MutatorState;
  }

  /**
   * Undoes the last call of this connection whose mutator returned an `undo`, by making the call that it names. With the
   * result of a call, undoes that call. Resolves to the result of the call that it makes; to `undefined` if no call can
   * be undone.
   */
  undo(): Promise<unknown>;
  undo<Done extends Undoable<M>>(done: Done): Promise<UndoResult<M, Done>>;
  undo(...done: [Undoable<M>?]): Promise<unknown> {
    return done.length === 0 ? this.#undoList.undoLast() : this.#undoList.undo(done[0]);
  }

  /** Makes the last call again that `undo()` has undone. Resolves as that does. */
  redo(): Promise<unknown> {
    return this.#undoList.redoLast();
  }

  /**
   * Makes one call of the mutator `as` with the list of all changes of a branch since its fork, or its last merge.
   * Resolves to the result of that call; to `undefined`, without a call, if there are no changes. When it rejects, the
   * branch is not merged. The branch stays.
   */
  mergeDraft<Name extends MergingName<M>>(
    branch: string,
    options: { readonly as: Name },
  ): Promise<Awaited<ReturnType<M[Name]>> | undefined> {
    const merging = mergeDraft(this.#context, this.#calls, branch, options);
    return this.#undoList.add(merging) as Promise<Awaited<ReturnType<M[Name]>> | undefined>;
  }

  /** Lists the calls of all tabs that the server has not acknowledged, in their order. */
  calls(): PendingCall[] {
    return this.#context.queue.pending();
  }

  protected async findPending(): Promise<boolean> {
    this.check();
    const { queue, shared } = this.#context;
    await shared.queueWork(() => queue.look());
    return queue.size > 0;
  }

  /** Counts the calls that the server has not acknowledged. */
  async pendingCount(options: CallOptions = {}): Promise<number> {
    optionsOf('pendingCount', options, SIGNAL_OPTIONS);
    await this.findPending();
    return this.#context.queue.size;
  }

  /**
   * Brings the rows of the server, and which calls it has carried out. Then one commit makes the app's rows the
   * server's, with the waiting calls made again on them. Rejects with `offline`, `remote`, `unauthorized`,
   * `remote/response`, `rollback` and `newer-version/format`; rows and queue are then as they were.
   */
  pull(options: PullOptions<Progress> = {}): Promise<MutatorPull> {
    const { signal, onProgress } = optionsOf('pull', options, PULL_OPTIONS);
    return this.run(signal, (own) => this.#pull(this.makeCall(own, onProgress)));
  }

  /** Sends the waiting calls. A pull shows what became of them. Rejects as `pull` does; the calls stay in the queue. */
  push(options: CallOptions = {}): Promise<void> {
    const { signal } = optionsOf('push', options, SIGNAL_OPTIONS);
    return this.run(signal, (own) => this.#push(own));
  }

  /** A pull comes first, unless a round has just ended well: it reports overtaken calls, which are not sent. */
  protected async round(
    _: boolean,
    mustPull: boolean,
    signal: AbortSignal | undefined,
  ): Promise<RoundResult> {
    const { queue } = this.#context;
    let fault: unknown;
    // A server that takes no calls may have news, and a server without news may take calls.
    const unless = (cause: HedgerowError) => {
      if (cause.code === 'offline' || signal?.aborted) throw cause;
      fault ??= cause;
      return { hasNews: false };
    };
    const pull = () => this.pull({ signal }).catch(unless);
    let { hasNews } = mustPull ? await pull() : { hasNews: false };
    if (queue.size > 0) {
      await this.push({ signal }).catch(unless);
      if (fault === undefined || !mustPull) hasNews = (await pull()).hasNews || hasNews;
    }
    if (fault !== undefined) throw fault;
    return { hasNews, isPending: queue.size > 0 };
  }

  protected onCommit(listener: () => void): () => void {
    this.#onCalls = listener;
    return () => {
      this.#onCalls = () => {};
    };
  }

  protected describeState() {
    const { queue } = this.#context;
    const pendingCalls = queue.size;
    const { isFilled } = queue.record;
    const { canUndo, canRedo } = this.#undoList;
    const rejected = this.#rejected.list;
    return { isFilled, isPending: pendingCalls > 0, pendingCalls, rejected, canUndo, canRedo };
  }

  /**
   * Takes a call out of the queue, and its effect out of the rows; later calls get other ids. Resolves to `false` if it
   * may have reached the server, or is no longer in the queue.
   */
  drop(call: Pick<PendingCall, 'place'>): Promise<boolean> {
    const place = memberOf(call, 'place');
    return this.run(undefined, async (signal) => {
      checkNumber('drop', place);
      return this.#drop(place, signal);
    });
  }

  /**
   * Takes a call out of `state.rejected`, in all tabs. Resolves to `false` if it is not there, or is still in the queue.
   */
  async dismiss(call: Pick<PendingCall, 'place'>): Promise<boolean> {
    this.check();
    const place = memberOf(call, 'place');
    checkNumber('dismiss', place);
    return this.host.changes.note(this.#dismiss(place));
  }

  async #dismiss(place: number): Promise<boolean> {
    const { local, queue } = this.#context;
    const isThere = await local.exclusively(async () => {
      await queue.look();
      const isSettled = queue.listSettledRejections().some(({ call }) => call.place === place);
      if (isSettled) await queue.alone(() => ({ record: queue.record, forgets: [place] }));
      return isSettled;
    });
    if (isThere) this.#rejected.forget(place);
    this.show();
    return isThere;
  }

  /** Drops a call. With an error it is a rejection, which the state lists. */
  async #drop(place: number, signal: AbortSignal | undefined, error?: unknown): Promise<boolean> {
    const { local, queue } = this.#context;
    if (error !== undefined) this.#rejected.noteError(place, error);
    const isDropped = await local.exclusively(async () => {
      await queue.look();
      const edit: EditQueue = () => {
        const call = queue.call(place);
        const { record, ...edits } = queue.without([place]);
        if (call === undefined || edits.drops.length === 0) throw new QueueMovedError();
        const rejects = error === undefined ? [] : [failedHere(queue, call, error)];
        // The rows no longer match the queue.
        return { record: { ...record, pulls: record.pulls + 1 }, ...edits, rejects };
      };
      return (await unlessMoved(queue.alone(edit).then(() => true))) === true;
    }, signal);
    if (isDropped) await this.#replay(signal);
    return isDropped;
  }

  protected async leave(): Promise<void> {
    await this.#calls.over;
    await this.#builder?.close();
    const { server, local, queue } = this.#context;
    for (const head of [server, local, queue.head]) head.leave();
  }

  /** Follows the queue, which has moved here or in another tab. */
  #follow(): void {
    const { shared, queue } = this.#context;
    const look = async () => {
      if (queue.isBehind) await queue.look();
      const { nextID } = queue.record;
      // This leaves out the changes of a pull or a push.
      if (nextID > this.#knownID) this.#onCalls();
      this.#knownID = nextID;
      this.show();
    };
    // The next call finds the failure again.
    void shared.queueWork(look).catch(() => {});
  }

  async #pull(job: ConnectionCall<MutatorPull, Progress>): Promise<MutatorPull> {
    const { signal } = job;
    const { queue } = this.#context;
    const before = await this.#replayIfDue(signal);
    for (let tries = 0; ; tries++) {
      const { clientGroupID } = queue.record;
      const pulled = await pullServerRowsOnce(this.#context, job);
      if (pulled === 'news' || pulled === 'nothing') {
        const acknowledged = before + (await this.#replayIfDue(signal));
        const result = { hasNews: pulled === 'news', acknowledged, pending: queue.size };
        if (result.hasNews) job.onPull(result);
        return result;
      }
      if (pulled === 'unknown-client') await this.#startOver(clientGroupID);
      await this.#again(tries, signal);
    }
  }

  async #push(signal: AbortSignal | undefined): Promise<void> {
    const { queue } = this.#context;
    for (let tries = 0; ; tries++) {
      const { clientGroupID } = queue.record;
      const pushed = await pushAll(this.#context, signal);
      if (pushed === 'pushed' || pushed === 'nothing') return;
      if (pushed !== 'unknown-client') {
        // No request can bring it, and it would hold up all others for ever.
        const { tooLarge, error } = pushed;
        if (!(await this.#drop(tooLarge.place, signal, error))) throw error;
        tries = -1;
        continue;
      }
      await this.#startOver(clientGroupID);
      await this.#again(tries, signal);
    }
  }

  async #again(tries: number, signal: AbortSignal | undefined): Promise<void> {
    if (tries >= MAX_TRIES) {
      throw new HedgerowError('conflict', 'tried too often');
    }
    await sleep(10 * Math.random(), signal);
  }

  async #startOver(unknown: string): Promise<void> {
    const sent = await startOver(this.#context, unknown);
    if (sent !== undefined) notify(this.#context.options.onReset, { sent });
  }

  async #replayIfDue(signal: AbortSignal | undefined): Promise<number> {
    const { record } = this.#context.queue;
    return this.#mustReplay || record.replayed !== record.pulls ? this.#replay(signal) : 0;
  }

  async #replay(signal: AbortSignal | undefined): Promise<number> {
    const { acknowledged, rejections } = await replayQueue(this.#context, signal, (...error) =>
      this.#rejected.noteError(...error),
    );
    this.#mustReplay = false;
    this.#rejected.take(rejections);
    this.show();
    return acknowledged;
  }
}
