/** The connection of a store to a bucket. */

import {
  anything,
  checkRangeOptions,
  KEY_RANGE,
  mandatory,
  type OptionsOf,
  optionsOf,
  SIGNAL_OPTIONS,
} from '../../base/check-options.js';
import { part } from '../../base/dynamic-import.js';
import { HedgerowError } from '../../base/errors.js';
import { Listeners } from '../../base/listeners.js';
import type { KeyRange } from '../../base/range.js';
import { REPAIR_OPTIONS, type RepairOptions } from '../../engine/repair/repair-options.js';
import type { RepairResult } from '../../engine/repair/types.js';
import { COLLECT_OPTIONS, type CollectOptions } from './collect-options.js';
import type { ConnectionCall } from './connection.js';
import {
  BUCKET_START_OPTIONS,
  type BucketStartOptions,
  type CallOptions,
  type ConnectionState,
  PULL_OPTIONS,
  type PullOptions,
  type StartOptions,
} from './connection-state.js';
import type { PullResult, SyncContext, SyncProgress } from './link-context.js';
import type { SyncHost } from './linked-store-types.js';
import { MergingConnection } from './merging-connection.js';
import type { Traffic } from './metered-remote.js';
import { checkpoints, histories } from './on-demand-link-code.js';
import { beginLink, type ResetRef } from './prepare-link-refs.js';
import { pull } from './pull.js';
import { type PushResult, push } from './push.js';
import type { Keep } from './rejoin-replaced-remote.js';
import type { CollectResult } from './remote-garbage-types.js';
import type { LoopState, RoundResult } from './sync-loop.js';

export interface RejoinOptions extends PullOptions<SyncProgress> {
  readonly keep: Keep;
}

const REJOIN_OPTIONS = { keep: mandatory(anything<Keep>()), ...PULL_OPTIONS };
const PREFETCH_OPTIONS = { ...KEY_RANGE, ...SIGNAL_OPTIONS };

const BUCKET_REPAIR_OPTIONS = {
  /**
   * Puts a checkpoint of all rows in the place of the remote's head, which then names no other object: for a remote
   * whose objects were lost, or do not lead to the rows of the head. `true` rejects with `remote/data` unless this
   * device has the rows of the head. `'replace'` makes the local rows the rows of the remote, whatever the head says:
   * rows that only the head has are lost.
   */
  remote: anything<boolean | 'replace'>(),
  ...REPAIR_OPTIONS,
};

export interface BucketRepairOptions
  extends RepairOptions,
    OptionsOf<typeof BUCKET_REPAIR_OPTIONS> {}

export interface BucketRepairResult extends RepairResult {
  /** The number of the head that `remote` has put. */
  readonly seq?: number | undefined;
}

const mending = () => part(() => import('./on-demand-repair-bundle.js'));
const probing = () => part(() => import('../remote/probe-swap-safety.js'));
const prefetching = () => part(() => import('./prefetch-range.js'));
const collecting = () => part(() => import('./start-garbage-collection.js'));

/** Loads the parts that connections load at need, for `preload`. */
export const loadParts = () =>
  Promise.all([probing(), collecting(), prefetching(), mending(), checkpoints(), histories()]);

/** Milliseconds between two looks of a loop whether it is time to collect. */
const LOOK_MS = 3_600_000;

/** A call, with its callbacks and the listeners. */
type Job = ConnectionCall<PullResult, SyncProgress>;

/** The parts of a connection besides its context. */
export interface BucketParts {
  readonly traffic: Traffic;
  readonly name: string;
  readonly mustProbe: boolean;
  readonly reset: readonly ResetRef[];
  /** Takes the current instance of the core. */
  readonly renew: () => Promise<void>;
}

/**
 * A store and a remote: `db.connect(bucket(remote))` makes it. The branch `remote/<name>` has the last seen rows of the
 * remote.
 */
export class BucketConnection extends MergingConnection<PullResult, PushResult, SyncProgress> {
  readonly #context: SyncContext;
  readonly #traffic: Traffic;
  readonly #renew: () => Promise<void>;
  readonly #onCollect = new Listeners<CollectResult | HedgerowError>();
  #collects: BucketStartOptions['collect'];
  #mustProbe: boolean;
  /** Whether a pull has ended well, or another tab has reported so. */
  #hasPulled = false;
  /** When a loop looks next, by the page's timer. */
  #lookAt = 0;
  #reset: readonly ResetRef[];

  /** Call `db.connect()`. */
  constructor(host: SyncHost, context: SyncContext, parts: BucketParts) {
    super(host, parts.name, context);
    this.#context = context;
    this.#traffic = parts.traffic;
    this.#mustProbe = parts.mustProbe;
    this.#renew = parts.renew;
    this.#reset = parts.reset;
  }

  /** Requests and bytes of this handle so far. Requests that a browser makes by itself are not counted. */
  get traffic(): Traffic {
    return { ...this.#traffic };
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
  pull(options: PullOptions<SyncProgress> = {}): Promise<PullResult> {
    const { signal, onProgress } = optionsOf('pull', options, PULL_OPTIONS);
    return this.#pull(this.makeCall(signal, onProgress));
  }

  /**
   * Makes the local rows the state of the remote. If another device was first, pulls, merges and tries again. One
   * request, if the head is known; more for over 4 KiB of changes, which are separate objects. Rejects with `conflict`
   * when others were first 40 times.
   */
  push(options: PullOptions<SyncProgress> = {}): Promise<PushResult> {
    const { signal, onProgress } = optionsOf('push', options, PULL_OPTIONS);
    return this.#push(this.makeCall(signal, onProgress));
  }

  /**
   * Brings all rows of a range that a lazy clone lacks, so that they can be read without a network. Costs a read of the
   * rows that it has.
   */
  async prefetch(options: KeyRange & CallOptions = {}): Promise<void> {
    const { signal, ...range } = checkRangeOptions('prefetch', options, PREFETCH_OPTIONS);
    this.check();
    const work = async (own: AbortSignal | undefined) =>
      (await prefetching()).prefetch(this.#context, range, { signal: own });
    return this.host.changes.run(signal, true, work);
  }

  /**
   * Joins a remote that went back, was replaced or was deleted, after `rollback` or `remote/gone`: forgets its seen
   * head, and pulls. `'union'` keeps the rows of both sides: rows that one side had deleted come back; conflicts are
   * decided and logged as in a pull; the next push pushes the rows that only this side has. `'remote'` takes only the
   * rows of the remote: changes that were not pushed are lost.
   */
  rejoin(options: RejoinOptions): Promise<PullResult> {
    const { keep, signal, onProgress } = optionsOf('rejoin', options, REJOIN_OPTIONS);
    return this.#run(this.makeCall(signal, onProgress), async (own) =>
      (await mending()).rejoin(this.#context, keep, own),
    );
  }

  /**
   * Repairs the store: fetches only the chunks that `db.health.verify()` finds damaged, and ends at the same root. For chunks
   * that the remote lacks, such as chunks of rows that were never pushed, it does what `db.health.repair(options)` does. With
   * `remote` it repairs the remote, too.
   */
  async repair(options: BucketRepairOptions = {}): Promise<BucketRepairResult> {
    const { signal, remote, ...wanted } = optionsOf('repair', options, BUCKET_REPAIR_OPTIONS);
    if (remote !== undefined && typeof remote !== 'boolean' && remote !== 'replace') {
      throw new HedgerowError('invalid-argument', "repair: remote is true, false or 'replace'");
    }
    const { shared, local, mender } = this.#context;
    const { repairOpen } = await part(() => import('../../engine/repair/repair.js'));
    const mend = await mender?.();
    const result = await this.#run(this.makeCall(signal), (own) =>
      repairOpen(local, { ...wanted, signal: own.signal }, shared.announce, mend),
    );
    this.host.settle();
    if (!remote) return result;
    const seq = await this.#run(this.makeCall(signal), async (own) =>
      (await mending()).mendRemote(this.#context, remote === 'replace', own),
    );
    return { ...result, seq };
  }

  /** As for all connections; `collect` says whether this device collects the garbage of the remote. */
  override start(options: BucketStartOptions = {}): void {
    super.start(options);
  }

  /** Calls `listener` with the outcome of each collection of the loop; returns a function that ends the calls. */
  onCollect(listener: (outcome: CollectResult | HedgerowError) => void): () => void {
    return this.#onCollect.add('onCollect', listener);
  }

  /**
   * Deletes the objects that no head of any branch of the remote has named for the grace, by the clock of the remote.
   * Needs the rights to list and to delete there; rejects with `unauthorized` without them, and does no harm. May be
   * called on any device, at any time, and made again after any failure. See `docs/sync.md`.
   */
  collect(options: CollectOptions = {}): Promise<CollectResult> {
    const { signal, ...job } = optionsOf('collect', options, COLLECT_OPTIONS);
    return this.#beside(signal, async (own) =>
      (await collecting()).collectNow(this.#context, { ...job, signal: own }),
    );
  }

  #pull(job: Job): Promise<PullResult> {
    return this.#run(job, async (own) => {
      const pulled = await pull(this.#context, own);
      this.#hasPulled = true;
      this.show();
      return pulled;
    });
  }

  #push(job: Job): Promise<PushResult> {
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
  async #isPushed(job: Job): Promise<boolean> {
    try {
      const { isPushed, pulledRows } = await this.#push(job);
      return isPushed || pulledRows > 0;
    } catch (cause) {
      // The failure of the push is the one to report.
      if (!job.signal?.aborted) await this.#pull(job).catch(() => {});
      throw cause;
    }
  }

  /** Collects if it is time, after a round. */
  #look(signal: AbortSignal | undefined): void {
    const collect = this.#collects;
    if (!collect || performance.now() < this.#lookAt) return;
    this.#lookAt = performance.now() + LOOK_MS;
    const onCollect = (outcome: CollectResult | HedgerowError) => this.#onCollect.tell(outcome);
    const looked = this.#beside(signal, async (own) =>
      (await collecting()).collectIfDue(this.#context, { collect, onCollect }, own),
    );
    const after = (again: boolean) => {
      if (!again) this.#lookAt = Number.POSITIVE_INFINITY;
    };
    looked.then(after, () => {});
  }

  /** Runs work that waits for no call of this connection, and that no call waits for. */
  #beside<T>(
    signal: AbortSignal | undefined,
    work: (signal: AbortSignal | undefined) => Promise<T>,
  ): Promise<T> {
    this.check();
    return this.host.changes.run(signal, true, async (own) => {
      await this.#renew();
      return work(own);
    });
  }

  protected async round(
    isPending: boolean,
    mustPull: boolean,
    signal: AbortSignal | undefined,
  ): Promise<RoundResult> {
    const job = this.makeCall(signal);
    let hasNews = false;
    if (isPending) hasNews = await this.#isPushed(job);
    else if (mustPull) {
      hasNews = (await this.#pull(job)).rows > 0;
      // Rows may have been here before the remote was known, or come from a merge.
      if (await this.findPending()) hasNews = (await this.#isPushed(job)) || hasNews;
    }
    this.#look(signal);
    return { hasNews, isPending: false };
  }

  protected describeState({ status }: LoopState): Pick<ConnectionState, 'isFilled'> {
    this.#hasPulled ||= status === 'synced';
    return { isFilled: this.#hasPulled || this.#context.refs.hasSeen };
  }

  protected override startOptions(options: BucketStartOptions): StartOptions {
    const all: BucketStartOptions = super.startOptions(options, BUCKET_START_OPTIONS);
    this.#collects = all.collect;
    return all;
  }

  protected override loopTools(): object {
    const { sleep, chance } = this.#context.tools;
    return { sleep, chance };
  }

  protected leave(): void {
    for (const one of [this.#context.origin, this.#context.local]) one.leave();
  }

  /** Makes the refs of the connection again, which a repair deletes if they are damaged. */
  async #beginAgain(): Promise<void> {
    const { shared, refs, durability } = this.#context;
    if (shared.inventory.refs.has(refs.names.origin)) return;
    this.#reset = [...this.#reset, ...(await beginLink(shared, refs, durability))];
  }

  #run<T>(job: Job, work: (job: Job) => Promise<T>): Promise<T> {
    return this.run(job.signal, async (signal) => {
      await this.#renew();
      await this.#beginAgain();
      return work({ ...job, signal });
    });
  }
}
