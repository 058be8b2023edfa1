/** The handle of the app's own server, which an app calls. */

import { notify } from '../../base/call-callback-safely.js';
import { checkNumber, optionsOf } from '../../base/check-options.js';
import { HedgerowError } from '../../base/errors.js';
import { memberOf } from '../../base/runtime-type-checks.js';
import { sleep } from '../../base/timeout.js';
import type { IndexBuilder } from '../../engine/write/background-index-builder.js';
import { CallQueue } from '../link/exclusive-link-calls.js';
import { type LinkWork, SingleSyncLoop } from '../link/single-sync-loop.js';
import { isSameState, type RoundResult, type SyncLoop } from '../link/sync-loop.js';
import { Leases } from '../link/tab-leases.js';
import { CallRunner } from './call-runner.js';
import { mergeDraft } from './merge-branch-by-mutator.js';
import { pullServerRowsOnce, startOver } from './pull-server-rows.js';
import { pushAll } from './push-calls.js';
import type { EditQueue } from './queue.js';
import { failedHere, toldRejection } from './rejections.js';
import { replayQueue } from './replay-call-queue.js';
import { QueueMovedError, type ServerContext, unlessMoved } from './server-link-context.js';
import type {
  MergingName,
  MutatorCalls,
  Mutators,
  PendingCall,
  PullJob,
  ServerPull,
  ServerState,
  ServerSyncOptions,
  Undoable,
  UndoResult,
} from './types.js';

/** Times that a pull or a push begins again, since the server no longer knew this store, or another tab was first. */
const MAX_TRIES = 20;

interface Job {
  readonly signal?: AbortSignal | undefined;
}

/** A store that is bound to the app's own server. `mutators()` makes it. */
export class ServerLink<M extends Mutators> {
  readonly #context: ServerContext;
  readonly #leases: Leases;
  readonly #turns: CallQueue;
  readonly #builder: IndexBuilder | undefined;
  readonly #calls: CallRunner;
  #closing: Promise<void> | undefined;
  /** Calls the mutators: each runs at once on the rows that are here, and waits for the server in the queue. */
  readonly mutate: MutatorCalls<M>;
  readonly #loop: SingleSyncLoop;
  #onState: ServerSyncOptions['onState'];
  #onProgress: ServerSyncOptions['onProgress'];
  /** Called when calls have come into the queue, in any tab. */
  #onCalls: () => void = () => {};
  #knownID: number;
  #shown: ServerState | undefined;
  /** Places of calls in the queue whose rejection the app has received. */
  readonly #told = new Set<number>();
  /** Errors of this session, by the places of calls. */
  readonly #errors = new Map<number, unknown>();
  /** Earlier calls may have had no effect: another version of the app may have run. */
  #mustReplay: boolean;

  /** Call `mutators()` instead. */
  constructor(context: ServerContext, builder: IndexBuilder | undefined) {
    this.#context = context;
    this.#builder = builder;
    this.#calls = new CallRunner(context);
    const { store, shared, queue } = context;
    const { locks, prefix } = shared.pins;
    this.#leases = new Leases(locks, `${prefix}${queue.head.branchName}/`);
    this.#turns = new CallQueue(store, this.#leases);
    this.#loop = new SingleSyncLoop(store, this.#leases);
    const closeBuilder = () => {
      if (builder) void store.changes.note(builder.close());
    };
    store.changes.closing.addEventListener('abort', closeBuilder, { once: true });
    this.#mustReplay = queue.size > 0;
    const names = Object.keys(context.options.mutators);
    const calls = names.map(
      (name) => [name, (args: unknown) => this.#calls.make(name, args)] as const,
    );
    this.#knownID = queue.record.nextID;
    queue.head.onMoved(() => this.#follow());
    this.mutate = Object.fromEntries(calls) as unknown as MutatorCalls<M>;
  }

  /** The state to show to a person. Without a loop, it says whether calls wait. */
  get state(): ServerState {
    const { queue } = this.#context;
    const { isFilled } = queue.record;
    const pending = queue.size;
    const { status = 'stopped', error, retryAt } = this.#loop.state ?? {};
    const isQuiet = status === 'synced' || status === 'waiting' || status === 'stopped';
    return {
      status: isQuiet && pending > 0 ? 'queued' : status,
      pending,
      isFilled,
      error,
      retryAt,
    };
  }

  /**
   * Makes the call that a mutator returned as `undo`, and resolves to its result. If that has an `undo`, too, this is
   * the redo.
   */
  undo<Done extends Undoable<M>>(done: Done): Promise<UndoResult<M, Done>> {
    return this.#calls.undo(done) as Promise<UndoResult<M, Done>>;
  }

  /**
   * Makes one call of the mutator `as` with the list of all changes of a branch since its fork, or its last merge.
   * Resolves to the result of that call; to `undefined`, without a call, if there are no changes. When it rejects, the
   * branch is not merged. The branch stays.
   */
  merge<Name extends MergingName<M>>(
    branch: string,
    options: { readonly as: Name },
  ): Promise<Awaited<ReturnType<M[Name]>> | undefined> {
    return mergeDraft(this.#context, this.#calls, branch, options) as Promise<
      Awaited<ReturnType<M[Name]>> | undefined
    >;
  }

  /** Lists the calls of all tabs that the server has not acknowledged, in their order. */
  pending(): PendingCall[] {
    return this.#context.queue.pending();
  }

  /**
   * Brings the rows of the server, and which calls it has carried out. Then one commit makes the app's rows the
   * server's, with the waiting calls made again on them. Rejects with `offline`, `remote`, `unauthorized`,
   * `remote/response`, `rollback` and `newer-version/format`; rows and queue are then as they were.
   */
  pull(job: PullJob = {}): Promise<ServerPull> {
    const { signal, onProgress } = optionsOf('pull', job, 'signal onProgress');
    return this.#turns.run(signal, (own) => this.#pull({ signal: own, onProgress }));
  }

  /** Sends the waiting calls. A pull shows what became of them. Rejects as `pull` does; the calls stay in the queue. */
  push(job: Job = {}): Promise<void> {
    return this.#turns.run(optionsOf('push', job, 'signal').signal, (signal) => this.#push(signal));
  }

  /**
   * Keeps the store in sync until `stop()` is called, or the store is closed: sends calls, and pulls after that, at
   * intervals, when the page becomes visible or comes online, and when it is poked. One tab does it for all. A second
   * call returns the running loop.
   */
  sync(options: ServerSyncOptions = {}): SyncLoop {
    const { queue, shared } = this.#context;
    const work: LinkWork = {
      isPending: async () => {
        await shared.queueWork(() => queue.look());
        return queue.size > 0;
      },
      // A pull comes first, unless a round has just ended well: it reports overtaken calls, which are not sent.
      work: async (_: boolean, mustPull: boolean, { signal }: Job): Promise<RoundResult> => {
        let fault: unknown;
        // A server that takes no calls may have news, and a server without news may take calls.
        const unless = (cause: HedgerowError) => {
          if (cause.code === 'offline' || signal?.aborted) throw cause;
          fault ??= cause;
          return { hasNews: false };
        };
        const pull = () => this.pull({ signal, onProgress: this.#onProgress }).catch(unless);
        let { hasNews } = mustPull ? await pull() : { hasNews: false };
        if (queue.size > 0) {
          await this.push({ signal }).catch(unless);
          if (fault === undefined || !mustPull) hasNews = (await pull()).hasNews || hasNews;
        }
        if (fault !== undefined) throw fault;
        return { hasNews, isPending: queue.size > 0 };
      },
      onCommit: (listener: () => void) => {
        this.#onCalls = listener;
        return () => {
          this.#onCalls = () => {};
        };
      },
    };
    return this.#loop.begin(() => {
      const names = 'everyMs pauseMs pokes onState onProgress';
      const { onState, onProgress, ...how } = optionsOf('sync', options, names);
      this.#onState = onState;
      this.#onProgress = onProgress;
      // This listener has received no state yet.
      this.#shown = undefined;
      return [work, { ...how, onState: () => this.#tell() }];
    });
  }

  /**
   * Takes a call out of the queue, and its effect out of the rows; later calls get other ids. Resolves to `false` if it
   * may have reached the server, or is no longer in the queue.
   */
  drop(call: Pick<PendingCall, 'place'>): Promise<boolean> {
    const place = memberOf(call, 'place');
    return this.#turns.run(undefined, async (signal) => {
      checkNumber('drop', place);
      return this.#drop(place, signal);
    });
  }

  /** Drops a call. With an error it is a rejection, which the app receives. */
  async #drop(place: number, signal: AbortSignal | undefined, error?: unknown): Promise<boolean> {
    const { local, queue } = this.#context;
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
    if (isDropped && error !== undefined) this.#errors.set(place, error);
    if (isDropped) await this.#replay(signal);
    return isDropped;
  }

  /** Ends the handle, and its loop. The store goes on, and so does the queue. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#loop.stop();
    await this.#turns.over;
    await this.#calls.over;
    this.#leases.close();
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
      this.#tell();
    };
    // The next call finds the failure again.
    void shared.queueWork(look).catch(() => {});
  }

  #tell(): void {
    const { state } = this;
    if (isSameState(state, this.#shown)) return;
    this.#shown = state;
    notify(this.#onState, state);
  }

  async #pull(job: PullJob): Promise<ServerPull> {
    const { signal } = job;
    const { queue } = this.#context;
    const before = await this.#replayIfDue(signal);
    for (let tries = 0; ; tries++) {
      const { clientGroupID } = queue.record;
      const pulled = await pullServerRowsOnce(this.#context, job);
      if (pulled === 'news' || pulled === 'nothing') {
        const acknowledged = before + (await this.#replayIfDue(signal));
        return { hasNews: pulled === 'news', acknowledged, pending: queue.size };
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
    if (this.#mustReplay || record.replayed !== record.pulls) return this.#replay(signal);
    await this.#tellRejected();
    return 0;
  }

  async #replay(signal: AbortSignal | undefined): Promise<number> {
    const { acknowledged, rejections } = await replayQueue(this.#context, signal);
    this.#mustReplay = false;
    const { queue, options } = this.#context;
    for (const { call, error } of rejections) {
      const { place } = call;
      if (queue.call(place) === undefined) this.#errors.set(place, error);
      else if (!this.#told.has(place)) {
        this.#told.add(place);
        notify(options.onRejected, { ...queue.toPendingCall(call), error, isPending: true });
      }
    }
    this.#tell();
    await this.#tellRejected();
    return acknowledged;
  }

  /** Reports calls that have left the queue without an effect, also calls of an earlier session. */
  async #tellRejected(): Promise<void> {
    const { queue, local, options, shared } = this.#context;
    const { onRejected } = options;
    if (onRejected === undefined) return;
    // Another tab may have reported them.
    await shared.queueWork(() => queue.look());
    const all = queue.listSettledRejections();
    if (all.length === 0) return;
    const forgets = all.map(({ call }) => call.place);
    for (const one of all) {
      const { place } = one.call;
      notify(onRejected, toldRejection(one, this.#errors.get(place)));
      this.#errors.delete(place);
    }
    await local.exclusively(async () => {
      await queue.look();
      await queue.alone(() => ({ record: queue.record, forgets }));
    });
  }
}
