import { notify } from '../../base/call-callback-safely.js';
import { checkRangeOptions, optionsOf, RANGE } from '../../base/check-options.js';
import { part } from '../../base/dynamic-import.js';
import { HedgerowError } from '../../base/errors.js';
import type { KeyRange } from '../../base/range.js';
import type { RepairOptions, RepairResult } from '../../engine/repair/types.js';
import type { LoggedConflict } from './conflict-log.js';
import { areSameRows } from './delta.js';
import { CallQueue } from './exclusive-link-calls.js';
import type { PullResult, SyncContext, SyncJob, SyncProgress } from './link-context.js';
import { conflictsOf, originOf } from './link-ref-names.js';
import type { SyncHost } from './linked-store-types.js';
import type { Traffic } from './metered-remote.js';
import { checkpoints, histories } from './on-demand-link-code.js';
import { beginLink, type ResetRef } from './prepare-link-refs.js';
import { pull } from './pull.js';
import { type PushResult, push } from './push.js';
import type { Keep } from './rejoin-replaced-remote.js';
import type { CollectOptions, CollectResult } from './remote-garbage-types.js';
import { SingleSyncLoop } from './single-sync-loop.js';
import type { RoundResult, SyncLoop, SyncOptions } from './sync-loop.js';
import { Leases } from './tab-leases.js';

export interface PullOptions {
  /** Ends the call with `aborted`. The arrived packs of a clone stay. */
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: SyncProgress) => void) | undefined;
}

export interface RejoinOptions extends PullOptions {
  readonly keep: Keep;
}

export interface LinkRepairOptions extends RepairOptions {
  /**
   * Puts a checkpoint of all rows in the place of the remote's head, which then names no other object: for a remote
   * whose objects were lost, or do not lead to the rows of the head. `true` rejects with `remote/data` unless this
   * device has the rows of the head. `'replace'` makes the local rows the rows of the remote, whatever the head says:
   * rows that only the head has are lost.
   */
  readonly remote?: boolean | 'replace' | undefined;
}

export interface LinkRepairResult extends RepairResult {
  /** The number of the head that `remote` has put. */
  readonly seq?: number | undefined;
}

const mending = () => part(() => import('./on-demand-repair-bundle.js'));
const probing = () => part(() => import('../remote/probe-swap-safety.js'));
const prefetching = () => part(() => import('./prefetch-range.js'));
const collecting = () => part(() => import('./start-garbage-collection.js'));

/** Loads the parts that links load at need, for `preload`. */
export const loadParts = () =>
  Promise.all([probing(), collecting(), prefetching(), mending(), checkpoints(), histories()]);

/** Milliseconds between two looks of a loop whether it is time to collect. */
const LOOK_MS = 3_600_000;

/** The parts of a link besides its context. */
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
 * after any failure. The branch `remote/<name>` has the last seen rows of the remote.
 */
export class Link {
  readonly #host: SyncHost;
  readonly #context: SyncContext;
  readonly #traffic: Traffic;
  /** Without these locks the work of tabs would be right, but done twice. */
  readonly #leases: Leases;
  readonly #turns: CallQueue;
  readonly #renew: () => Promise<void>;
  #mustProbe: boolean;
  /** When a loop looks next, by the page's timer. */
  #lookAt = 0;
  readonly #loop: SingleSyncLoop;
  #reset: readonly ResetRef[];
  /** The store's name for this remote. */
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
    this.#loop = new SingleSyncLoop(host, this.#leases);
  }

  /** Requests and bytes of this handle so far. Requests that a browser makes by itself are not counted. */
  get traffic(): Traffic {
    return { ...this.#traffic };
  }

  /** The branch that has the last seen rows of the remote: read it by `db.branch(link.originName)`. */
  get originName(): string {
    return originOf(this.name);
  }

  /** The branch that has the log of conflicts. */
  get conflictsName(): string {
    return conflictsOf(this.name);
  }

  /**
   * The records of the remote that this handle found damaged and reset; usually empty. After `origin` and `fork` the
   * next pull keeps the rows of both sides: rows that one side had deleted come back, and differing rows conflict.
   */
  get reset(): readonly ResetRef[] {
    return this.#reset;
  }

  /**
   * Brings the pushes of others to the branch of the remote, and from there into the local one, in one commit. One
   * request, unless the changes are long or old. Rejects with `offline`, `rollback`, `remote/data` and the other
   * codes of remotes; the local rows are then as they were.
   */
  pull(options: PullOptions = {}): Promise<PullResult> {
    const job = optionsOf('pull', options, 'signal onProgress');
    return this.#pull(job);
  }

  /**
   * Makes the local rows the state of the remote. If another device was first, pulls, merges and tries again. One
   * request, if the head is known; more for over 4 KiB of changes, which are separate objects. Rejects with `conflict`
   * when others were first 40 times.
   */
  push(options: PullOptions = {}): Promise<PushResult> {
    const job = optionsOf('push', options, 'signal onProgress');
    return this.#push(job);
  }

  /**
   * Brings all rows of a range that a lazy clone lacks, so that they can be read without a network. Costs a read of the
   * rows that it has.
   */
  async prefetch(options: KeyRange & Pick<PullOptions, 'signal'> = {}): Promise<void> {
    const { signal, ...range } = checkRangeOptions('prefetch', options, RANGE.signal);
    this.#host.check();
    const work = async (own: AbortSignal | undefined) =>
      (await prefetching()).prefetch(this.#context, range, { signal: own });
    return this.#host.changes.run(signal, true, work);
  }

  /**
   * Joins a remote that went back, was replaced or was deleted, after `rollback` or `remote/gone`: forgets its seen
   * head, and pulls. `'union'` keeps the rows of both sides: rows that one side had deleted come back; conflicts are
   * decided and logged as in a pull; the next push pushes the rows that only this side has. `'remote'` takes only the
   * rows of the remote: changes that were not pushed are lost.
   */
  rejoin(options: RejoinOptions): Promise<PullResult> {
    const { keep, ...job } = optionsOf('rejoin', options, 'keep signal onProgress');
    return this.#run(job, async (own) => (await mending()).rejoin(this.#context, keep, own));
  }

  /**
   * Repairs the store: fetches only the chunks that `db.verify()` finds damaged, and ends at the same root. For chunks
   * that the remote lacks, such as chunks of rows that were never pushed, it does what `db.repair(options)` does. With
   * `remote` it repairs the remote, too.
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

  /** Returns whether there is something to push, as far as this device knows. Reads no rows. */
  async isPending(): Promise<boolean> {
    this.#host.check();
    return this.#loopHost().isPending();
  }

  /**
   * Keeps the store in sync until `stop()` is called, or the store is closed: pushes commits, and pulls at intervals,
   * when the page becomes visible or comes online, and when it is poked. One tab does it for all. A second call returns
   * the running loop.
   */
  sync(options: SyncOptions = {}): SyncLoop {
    return this.#loop.begin(() => [this.#loopHost(options), options]);
  }

  /** Reads the conflicts that were decided on this device, the oldest first. */
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
   * Deletes the objects that no head of any branch of the remote has named for the grace, by the clock of the remote.
   * Needs the rights to list and to delete there; rejects with `unauthorized` without them, and does no harm. May be
   * called on any device, at any time, and made again after any failure. See `docs/sync.md`.
   */
  collect(options: CollectOptions = {}): Promise<CollectResult> {
    const { signal, ...job } = optionsOf('collect', options, 'graceMs signal onProgress');
    return this.#beside(signal, async (own) =>
      (await collecting()).collectNow(this.#context, { ...job, signal: own }),
    );
  }

  /** Ends the handle, and its loop. The store goes on, and keeps its state of the remote. */
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

  /** Pushes; resolves to whether that has brought rows to either side. After a failed push it still pulls. */
  async #isPushed(job: SyncJob): Promise<boolean> {
    try {
      const { isPushed, applied } = await this.#push(job);
      return isPushed || applied > 0;
    } catch (cause) {
      // The failure of the push is the one to report.
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

  /** Runs work that waits for no call of this link, and that no call waits for. */
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
          // Rows may have been here before the remote was known, or come from a merge.
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

  /** Makes the refs of the link again, which a repair deletes if they are damaged. */
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
