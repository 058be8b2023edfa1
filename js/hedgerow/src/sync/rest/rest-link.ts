/** The handle of a server of plain rows, which an app calls. */

import { optionsOf } from '../../base/check-options.js';
import { HedgerowError } from '../../base/errors.js';
import { sleep } from '../../base/timeout.js';
import type { LoggedConflict } from '../link/conflict-log.js';
import { areSameRows } from '../link/delta.js';
import { CallQueue } from '../link/exclusive-link-calls.js';
import type { PullResult, SyncJob } from '../link/link-context.js';
import { conflictsOf, originOf } from '../link/link-ref-names.js';
import { type LinkWork, SingleSyncLoop } from '../link/single-sync-loop.js';
import type { RoundResult, SyncLoop } from '../link/sync-loop.js';
import { Leases } from '../link/tab-leases.js';
import { pullRowsOnce } from './pull-rows.js';
import { diffRows, hasOpenPush, pushOnce, type RestPush } from './push-rows.js';
import type { RestContext } from './rest-link-context.js';
import type { PullJob, RestSyncOptions, RowChange } from './types.js';

/** Times that a call begins again, since another tab, or another client of the server, was first. */
const MAX_TRIES = 20;
/** Longest wait of a push that begins again. The wait doubles, and half of it is random. */
const MAX_PAUSE_MS = 1000;

interface Job {
  readonly signal?: AbortSignal | undefined;
}

/** A store that is bound to a server of plain rows. `rest()` makes it. */
export class RestLink {
  readonly #context: RestContext;
  readonly #turns: CallQueue;
  readonly #leases: Leases;
  readonly #loop: SingleSyncLoop;
  /** Whether it has pulled since its last push. */
  #hasLooked = false;
  /** The store's name for this server. */
  readonly name: string;

  /** Call `rest()` instead. */
  constructor(context: RestContext, name: string) {
    this.#context = context;
    this.name = name;
    const { pins } = context.shared;
    this.#leases = new Leases(pins.locks, `${pins.prefix}remote/${name}/`);
    this.#turns = new CallQueue(context.store, this.#leases);
    this.#loop = new SingleSyncLoop(context.store, this.#leases);
  }

  /** The branch with the rows of the server as they are known here: read it by `db.branch(server.originName)`. */
  get originName(): string {
    return originOf(this.name);
  }

  /** The branch with the log of conflicts. */
  get conflictsName(): string {
    return conflictsOf(this.name);
  }

  /**
   * Brings the changes of the server, and merges them into the local rows, in one commit. Rejects with `offline`,
   * `remote`, `unauthorized`, `remote/response` and the other codes of remotes; the local rows are then as they were.
   */
  pull(job: PullJob = {}): Promise<PullResult> {
    const { signal, onProgress } = optionsOf('pull', job, 'signal onProgress');
    return this.#turns.run(signal, (own) => this.#pull({ signal: own, onProgress }));
  }

  /**
   * Sends the local changes: each changed row once, with the row of the server that it is based on. Where the server
   * answers 409, since it has another row by now, this pulls, merges and sends again. Rejects as `pull` does, and with
   * `conflict` after 20 times; accepted changes stay accepted, and the rest is still pending.
   */
  push(job: Job = {}): Promise<RestPush> {
    return this.#turns.run(optionsOf('push', job, 'signal').signal, (signal) => this.#push(signal));
  }

  /** Resolves to whether the rows of the server have ever come: then a store without rows is empty there, too. */
  async isFilled(): Promise<boolean> {
    const { shared, store, memo } = this.#context;
    store.check();
    await shared.queueWork(() => memo.look());
    return memo.record.cookie !== null;
  }

  /** Resolves to whether there are changes here that the server has not accepted. Reads no rows. */
  async isPending(): Promise<boolean> {
    const { shared, store, local, refs } = this.#context;
    store.check();
    const { origin } = await refs.look();
    await shared.queueWork(() => local.refresh());
    const { head, release } = await local.holdHead();
    try {
      return !(await areSameRows(shared, head.commitBytes, origin));
    } finally {
      release();
    }
  }

  /** Yields the changes that a push would send now, in the order of keys. */
  async *pending(job: Job = {}): AsyncGenerator<RowChange, void, void> {
    const { signal } = optionsOf('pending', job, 'signal');
    const { shared, store, local, refs } = this.#context;
    store.check();
    const { origin } = await refs.look();
    await shared.queueWork(() => local.refresh());
    const { head, release } = await local.holdHead();
    const from = await shared.hold(origin);
    try {
      for await (const changes of diffRows(this.#context, origin, head.commitBytes, signal)) {
        yield* changes;
      }
    } finally {
      from.release();
      release();
    }
  }

  /**
   * Keeps the store in sync until `stop()` is called, or the store is closed: pulls and pushes what is committed, at
   * intervals, when the page becomes visible or comes online, and when it is poked. One tab does it for all. A second
   * call returns the running loop.
   */
  sync(options: RestSyncOptions = {}): SyncLoop {
    const { local } = this.#context;
    const { onProgress, ...how } = optionsOf(
      'sync',
      options,
      'everyMs pauseMs pokes onState onPull onProgress',
    );
    const work: LinkWork = {
      isPending: () => this.isPending(),
      work: async (isPending: boolean, mustPull: boolean, job: SyncJob): Promise<RoundResult> => {
        const { signal } = job;
        const pulled =
          isPending || mustPull ? await this.pull({ signal, onProgress }) : { applied: 0 };
        if (pulled.applied > 0) job.onPull?.(pulled as PullResult);
        // This pushes rows that a merge has made, too.
        const pushed = (await this.isPending()) ? await this.push({ signal }) : { accepted: 0 };
        const hasNews = pulled.applied > 0 || pushed.accepted > 0;
        return { hasNews, isPending: await this.isPending() };
      },
      onCommit: (listener: () => void) => local.onMoved(listener),
    };
    return this.#loop.begin(() => [work, how]);
  }

  /** Lists the conflicts decided on this device, and the changes that the server refused, the oldest first. */
  conflicts(job: Job = {}): AsyncIterable<LoggedConflict> {
    this.#context.store.check();
    return this.#context.log.entries(optionsOf('conflicts', job, 'signal').signal);
  }

  /** Deletes conflicts from the log, by their ids. */
  async forgetConflicts(ids: Iterable<string>): Promise<void> {
    this.#context.store.check();
    await this.#context.log.forget(ids);
  }

  /** Ends the handle, and its loop. The store goes on, and so does what it knows of the server. */
  async close(): Promise<void> {
    await this.#loop.stop();
    await this.#turns.over;
    this.#leases.close();
    const { origin, local, memo } = this.#context;
    for (const head of [origin, local, memo.head]) head.leave();
  }

  async #pull(job: PullJob): Promise<PullResult> {
    for (let tries = 0; ; tries++) {
      const pulled = await pullRowsOnce(this.#context, job);
      if (pulled !== undefined) {
        this.#hasLooked = true;
        return pulled;
      }
      await this.#again(tries, job.signal);
    }
  }

  async #push(signal: AbortSignal | undefined): Promise<RestPush> {
    for (let tries = 0; ; tries++) {
      // The result of one push at a time may be open: a pull shows it.
      if (!this.#hasLooked && (await hasOpenPush(this.#context))) await this.#pull({ signal });
      this.#hasLooked = false;
      try {
        const pushed = await pushOnce(this.#context, signal);
        if (pushed !== undefined) return pushed;
      } catch (cause) {
        if (!(cause instanceof HedgerowError) || cause.status !== 409) throw cause;
        await this.#again(tries, signal, cause);
        await this.#pull({ signal });
        continue;
      }
      await this.#again(tries, signal);
    }
  }

  async #again(
    tries: number,
    signal: AbortSignal | undefined,
    cause?: HedgerowError,
  ): Promise<void> {
    if (tries >= MAX_TRIES) {
      const message = cause
        ? `the server answered 409 to ${tries} pushes, with a pull before each: does its pull bring the rows that differ from their before?`
        : `other tabs were first ${tries} times: try again later`;
      throw new HedgerowError('conflict', message, { cause });
    }
    await sleep(Math.min(10 * 2 ** tries, MAX_PAUSE_MS) * (0.5 + Math.random() / 2), signal);
  }
}
