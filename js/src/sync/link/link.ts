import { HedgerowError } from '../../base/errors.js';
import { checkRangeOptions, optionsOf, RANGE } from '../../base/options.js';
import { part } from '../../base/parts.js';
import type { KeyRange } from '../../base/range.js';
import { notify } from '../../base/report.js';
import type { RepairOptions, RepairResult } from '../../engine/repair/types.js';
import { beginLink, type ResetRef } from './begin-link.js';
import { CallQueue } from './call-queue.js';
import type { CollectOptions, CollectResult } from './collect-types.js';
import type { LoggedConflict } from './conflict-log.js';
import type { PullResult, SyncContext, SyncJob, SyncProgress } from './context.js';
import { areSameRows } from './delta.js';
import { Leases } from './leases.js';
import { conflictsOf, originOf } from './link-names.js';
import { checkpoints, histories } from './link-parts.js';
import type { RoundResult, SyncLoop, SyncOptions } from './loop.js';
import type { Traffic } from './meter.js';
import { OneLoop } from './one-loop.js';
import { pull } from './pull.js';
import { type PushResult, push } from './push.js';
import type { Keep } from './rejoin.js';
import type { SyncHost } from './sync-host.js';

export interface PullOptions {
  /** Ends the call with `aborted`. What has arrived of a clone stays. */
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: SyncProgress) => void) | undefined;
}

export interface RejoinOptions extends PullOptions {
  readonly keep: Keep;
}

export interface LinkRepairOptions extends RepairOptions {
  /**
   * Puts a checkpoint of all rows over the head of the remote, which then names no other object: where some were lost, or do
   * not lead to the rows of the head. `true` rejects with `invalid-remote` unless this device has the rows of the head.
   * `'replace'` makes the local rows those of the remote, whatever the head says: what only the head has is lost.
   */
  readonly remote?: boolean | 'replace' | undefined;
}

export interface LinkRepairResult extends RepairResult {
  /** The number of the head that `remote` has put. */
  readonly seq?: number | undefined;
}

const mending = () => part(() => import('./link-repair.js'));
const probing = () => part(() => import('../remote/probe.js'));
const prefetching = () => part(() => import('./prefetch.js'));
const collecting = () => part(() => import('./collect-call.js'));

/** Loads what links load at need, for `preload`. */
export const loadParts = () =>
  Promise.all([probing(), collecting(), prefetching(), mending(), checkpoints(), histories()]);

/** How long a loop waits between two looks whether it is time to collect, in milliseconds. */
const LOOK_MS = 3_600_000;

/** What a link is made of, beside what its work uses. */
export interface LinkParts {
  readonly traffic: Traffic;
  readonly name: string;
  readonly mustProbe: boolean;
  readonly reset: readonly ResetRef[];
  /** Takes the current instance of the core. */
  readonly renew: () => Promise<void>;
}

/**
 * A remote of a store, made by `db.remote()`. Its calls run one after the other, in all tabs; each may be made again
 * after any failure. What the remote's rows were when they were last seen is in the branch `remote/<name>`.
 */
export class Link {
  readonly #host: SyncHost;
  readonly #context: SyncContext;
  readonly #traffic: Traffic;
  /** What tabs do under these would be right without them, but done twice. */
  readonly #leases: Leases;
  readonly #turns: CallQueue;
  readonly #renew: () => Promise<void>;
  #mustProbe: boolean;
  /** When a loop looks next, by the page's timer. */
  #lookAt = 0;
  readonly #loop: OneLoop;
  #reset: readonly ResetRef[];
  /** What the store calls this remote. */
  readonly name: string;

  /** Call `db.remote()`. */
  constructor(host: SyncHost, context: SyncContext, parts: LinkParts) {
    this.#host = host;
    this.#context = context;
    this.#traffic = parts.traffic;
    this.name = parts.name;
    this.#mustProbe = parts.mustProbe;
    this.#renew = parts.renew;
    this.#reset = parts.reset;
    const { pins } = context.shared;
    this.#leases = new Leases(pins.locks, `${pins.prefix}remote/${this.name}/`);
    this.#turns = new CallQueue(host, this.#leases);
    this.#loop = new OneLoop(host, this.#leases);
  }

  /** Requests and bytes of this handle so far. Requests that a browser makes by itself are not counted. */
  get traffic(): Traffic {
    return { ...this.#traffic };
  }

  /** The branch that has the rows of the remote as they were last seen: read it by `db.branch(link.originName)`. */
  get originName(): string {
    return originOf(this.name);
  }

  /** The branch that has the log of conflicts. */
  get conflictsName(): string {
    return conflictsOf(this.name);
  }

  /**
   * The records of the remote that this handle found damaged, and has begun again: none, mostly. After
   * `origin` and `fork` the next pull keeps the rows of both sides, so rows that one side had deleted come back, and a row that
   * differs is a conflict.
   */
  get reset(): readonly ResetRef[] {
    return this.#reset;
  }

  /**
   * Brings what others have pushed: to the branch of the remote, and from there into the local one, in one commit. One
   * request, unless the changes are long or of long ago. Rejects with `offline`, `rollback`, `invalid-remote` and the
   * other codes of remotes; the local rows are then as they were.
   */
  pull(options: PullOptions = {}): Promise<PullResult> {
    const job = optionsOf('pull', options, 'signal onProgress');
    return this.#pull(job);
  }

  /**
   * Makes what is in the local branch the state of the remote. Where another device was first, pulls, merges and tries
   * again. One request, if the head is known; objects of their own for more than 4 KiB of changes. Rejects with
   * `conflict` when others were first 40 times.
   */
  push(options: PullOptions = {}): Promise<PushResult> {
    const job = optionsOf('push', options, 'signal onProgress');
    return this.#push(job);
  }

  /**
   * Brings all rows of a range that a lazy clone does not have: they can be read without a network then. Costs a read of
   * those that it has.
   */
  async prefetch(options: KeyRange & Pick<PullOptions, 'signal'> = {}): Promise<void> {
    const { signal, ...range } = checkRangeOptions('prefetch', options, RANGE.signal);
    this.#host.check();
    const work = async (own: AbortSignal | undefined) =>
      (await prefetching()).prefetch(this.#context, range, { signal: own });
    return this.#host.changes.run(signal, true, work);
  }

  /**
   * Joins a remote that went back, was replaced or was deleted, after `rollback` or `remote-gone`: forgets what was seen of it,
   * and pulls. `'union'` keeps the rows of both sides, so what one of them had deleted comes back; conflicts are decided and
   * logged as in a pull; the next push pushes what only this side has. `'remote'` takes the rows of the remote alone: what was
   * not pushed is lost.
   */
  rejoin(options: RejoinOptions): Promise<PullResult> {
    const { keep, ...job } = optionsOf('rejoin', options, 'keep signal onProgress');
    return this.#run(job, async (own) => (await mending()).rejoin(this.#context, keep, own));
  }

  /**
   * Repairs the store: fetches the chunks that `db.verify()` finds damaged, and no others, and ends at the same root. Of what
   * the remote does not have, such as rows that were never pushed, it does what `db.repair(options)` does. With `remote` it
   * repairs the remote, too.
   */
  async repair(options: LinkRepairOptions = {}): Promise<LinkRepairResult> {
    const { signal, remote, ...wanted } = optionsOf(
      'repair',
      options,
      'remote salvage checkIndexes signal onProgress',
    );
    if (remote !== undefined && typeof remote !== 'boolean' && remote !== 'replace') {
      throw new HedgerowError('invalid-argument', "repair: remote is true, false or 'replace'");
    }
    const { shared, local, mender } = this.#context;
    const { repairOpen } = await part(() => import('../../engine/repair/repair.js'));
    const mend = await mender?.();
    const result = await this.#run({ signal }, (own) =>
      repairOpen(local, { ...wanted, signal: own.signal }, shared.announce, mend),
    );
    this.#host.settle();
    if (!remote) return result;
    const seq = await this.#run({ signal }, async (own) =>
      (await mending()).mendRemote(this.#context, remote === 'replace', own),
    );
    return { ...result, seq };
  }

  /** Whether there is something to push, as far as is known here. Reads no rows. */
  async isPending(): Promise<boolean> {
    this.#host.check();
    return this.#loopHost().isPending();
  }

  /**
   * Keeps the store in sync until `stop()` is called, or the store is closed: pushes what is committed, and pulls at
   * intervals, when the page becomes visible or comes online, and when it is poked. One tab does it for all. A second
   * call returns the loop that is running.
   */
  sync(options: SyncOptions = {}): SyncLoop {
    return this.#loop.begin(() => [this.#loopHost(options), options]);
  }

  /** The conflicts that were decided on this device, the oldest first. */
  conflicts(
    options: { readonly signal?: AbortSignal | undefined } = {},
  ): AsyncIterable<LoggedConflict> {
    this.#host.check();
    return this.#context.log.entries(optionsOf('conflicts', options, 'signal').signal);
  }

  /** Deletes conflicts from the log, by their ids. */
  async forgetConflicts(ids: Iterable<string>): Promise<void> {
    this.#host.check();
    await this.#context.log.forget(ids);
  }

  /**
   * Deletes what no head of the remote needs any more, of all its branches: what was not named for the grace, by the clock
   * of the remote. Needs the rights to list and to delete there; rejects with `remote-auth` without them, and does no harm.
   * May be called on any device, at any time, and made again after any failure. See `docs/sync.md`.
   */
  collect(options: CollectOptions = {}): Promise<CollectResult> {
    const { signal, ...job } = optionsOf('collect', options, 'graceMs signal onProgress');
    return this.#beside(signal, async (own) =>
      (await collecting()).collectNow(this.#context, { ...job, signal: own }),
    );
  }

  /** Ends the handle, and its loop. The store goes on, and so does what it knows of the remote. */
  async close(): Promise<void> {
    await this.#loop.stop();
    await this.#turns.over;
    this.#leases.close();
    for (const one of [this.#context.origin, this.#context.local]) one.leave();
  }

  #pull(job: SyncJob): Promise<PullResult> {
    return this.#run(job, (own) => pull(this.#context, own));
  }

  #push(job: SyncJob): Promise<PushResult> {
    return this.#run(job, async (own) => {
      if (this.#mustProbe) {
        const { remote, tools } = this.#context;
        const { probeOnce } = await probing();
        await probeOnce(remote, tools, { signal: own.signal });
        this.#mustProbe = false;
      }
      return push(this.#context, own);
    });
  }

  /** Whether a push has brought rows to either side. What cannot be pushed keeps nobody from what others push. */
  async #isPushed(job: SyncJob): Promise<boolean> {
    try {
      const { isPushed, applied } = await this.#push(job);
      return isPushed || applied > 0;
    } catch (cause) {
      // The failure of the push is the one that is told.
      if (!job.signal?.aborted) await this.#pull(job).catch(() => {});
      throw cause;
    }
  }

  /** Collects if it is time, for a loop that has just synced. */
  #look(options: SyncOptions, signal: AbortSignal | undefined): void {
    if (!options.collect || performance.now() < this.#lookAt) return;
    this.#lookAt = performance.now() + LOOK_MS;
    const looked = this.#beside(signal, async (own) =>
      (await collecting()).collectIfDue(this.#context, options, own),
    );
    const after = (again: boolean) => {
      if (!again) this.#lookAt = Number.POSITIVE_INFINITY;
    };
    looked.then(after, () => {});
  }

  /** Runs what does not wait for calls of this link, nor they for it. */
  #beside<T>(
    signal: AbortSignal | undefined,
    work: (signal: AbortSignal | undefined) => Promise<T>,
  ): Promise<T> {
    this.#host.check();
    return this.#host.changes.run(signal, true, async (own) => {
      await this.#renew();
      return work(own);
    });
  }

  #loopHost(options: SyncOptions = {}) {
    const { refs, local, shared, tools } = this.#context;
    const isPushed = (job: SyncJob) => this.#isPushed(job);
    const pullNow = (job: SyncJob) => this.#pull(job);
    const look = (signal: AbortSignal | undefined) => this.#look(options, signal);
    const host = {
      async work(isPending: boolean, mustPull: boolean, job: SyncJob): Promise<RoundResult> {
        let hasNews = false;
        if (isPending) hasNews = await isPushed(job);
        else if (mustPull) {
          hasNews = (await pullNow(job)).applied > 0;
          // Rows that were here before the remote was known, or that a merge has made.
          if (await host.isPending()) hasNews = (await isPushed(job)) || hasNews;
        }
        look(job.signal);
        return { hasNews, isPending: false };
      },
      isPending: async () => {
        const { origin, pending } = await refs.look();
        await shared.queueWork(() => local.refresh());
        if (pending !== undefined) return true;
        const { head, release } = await local.holdHead();
        try {
          return !(await areSameRows(shared, head.commitBytes, origin));
        } finally {
          release();
        }
      },
      onCommit: (listener: () => void) => local.onMoved(listener),
      sleep: tools.sleep,
      chance: tools.chance,
    };
    return host;
  }

  /** A repair deletes what it finds damaged of a link. */
  async #beginAgain(): Promise<void> {
    const { shared, refs, durability } = this.#context;
    if (shared.inventory.refs.has(refs.names.origin)) return;
    this.#reset = [...this.#reset, ...(await beginLink(shared, refs, durability))];
  }

  #run<T>(job: SyncJob, work: (job: SyncJob) => Promise<T>): Promise<T> {
    return this.#turns.run(job.signal, async (signal) => {
      await this.#renew();
      await this.#beginAgain();
      return work({
        signal,
        onProgress: (progress) => notify(job.onProgress, progress),
        onPull: (pulled) => notify(job.onPull, pulled),
      });
    });
  }
}
