/** The calls of connections that merge rows here, and log the conflicts. */

import { optionsOf, SIGNAL_OPTIONS } from '../../base/check-options.js';
import { encodeRange } from '../../base/range.js';
import { type Change, changesOf, startDiff } from '../../engine/read/decode-diff.js';
import { blocks } from '../../engine/read/scan.js';
import type { LoggedConflict } from './conflict-log.js';
import { Connection } from './connection.js';
import type { CallOptions } from './connection-state.js';
import { areSameRows } from './delta.js';
import type { MergeContext } from './link-context.js';
import { conflictsOf, originOf } from './link-ref-names.js';
import type { SyncHost } from './linked-store-types.js';

export abstract class MergingConnection<Pulled, Pushed, Steps> extends Connection<
  Pulled,
  Pushed,
  Steps
> {
  readonly #merging: MergeContext;

  constructor(host: SyncHost, name: string, context: MergeContext) {
    super(host, name, `remote/${name}`);
    this.#merging = context;
  }

  /** The branch with the rows of the other side as they were last seen: `db.branches.open(connection.originName)`. */
  get originName(): string {
    return originOf(this.name);
  }

  /** The branch with the log of conflicts. */
  get conflictsName(): string {
    return conflictsOf(this.name);
  }

  protected async findPending(): Promise<boolean> {
    this.check();
    const { shared, local, refs } = this.#merging;
    const { origin, pending } = await refs.look();
    await shared.queueWork(() => local.refresh());
    if (pending !== undefined) return true;
    const { head, release } = await local.holdHead();
    try {
      return !(await areSameRows(shared, head.commitBytes, origin));
    } finally {
      release();
    }
  }

  /** Counts the rows that differ from the last seen rows of the other side. Reads only these. */
  async pendingCount(options: CallOptions = {}): Promise<number> {
    const { signal } = optionsOf('pendingCount', options, SIGNAL_OPTIONS);
    let count = 0;
    for await (const changes of this.unsent(signal)) count += changes.length;
    return count;
  }

  /** Yields the changes of the local rows that the other side lacks, in the order of keys. */
  protected async *unsent(
    signal: AbortSignal | undefined,
  ): AsyncGenerator<readonly Change[], void, void> {
    this.check();
    const { shared, local, refs } = this.#merging;
    const { origin } = await refs.look();
    await shared.queueWork(() => local.refresh());
    const { head, release } = await local.holdHead();
    const from = await shared.hold(origin);
    try {
      yield* changesBetween(this.#merging, origin, head.commitBytes, signal);
    } finally {
      from.release();
      release();
    }
  }

  protected onCommit(listener: () => void): () => void {
    return this.#merging.local.onMoved(listener);
  }

  /** Reads the conflicts that were decided on this device, and changes that a server refused, the oldest first. */
  conflicts(options: CallOptions = {}): AsyncIterable<LoggedConflict> {
    this.check();
    return this.#merging.log.entries(optionsOf('conflicts', options, SIGNAL_OPTIONS).signal);
  }

  /** Deletes conflicts from the log, by their ids. */
  async forgetConflicts(ids: Iterable<string>): Promise<void> {
    this.check();
    await this.#merging.log.forget(ids);
  }
}

/** Yields the changes from one commit to another, which the caller holds. */
export async function* changesBetween(
  { shared, local }: Pick<MergeContext, 'shared' | 'local'>,
  from: Uint8Array,
  to: Uint8Array,
  signal: AbortSignal | undefined,
): AsyncGenerator<readonly Change[], void, void> {
  const start = async () => ({
    op: await startDiff(shared.host, local, from, to, encodeRange({})),
  });
  for await (const members of blocks(shared.host, start, signal)) yield [...changesOf(members)];
}
