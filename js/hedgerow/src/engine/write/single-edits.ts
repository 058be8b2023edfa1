import { committing } from '../../base/abort-signal.js';
import { isBytes, stringify } from '../../base/check-value.js';
import { checkKey } from '../../base/key.js';
import type { Host } from '../../core/operation-host.js';
import type { Durability } from '../../storage/segment-store.js';
import type { BranchHead } from '../history/branch-head.js';
import { PendingEdits } from '../history/pending-edits.js';
import { loadWrites } from './on-demand-write-code.js';
import type { EditOptions, WaitingEdit } from './waiting-edit.js';

/** Edits that share a commit: no call lies between them that the later ones must wait for. */
interface Batch {
  readonly edits: WaitingEdit[];
  /** The calls that the edits wait for: see `Bulks.calls`. */
  readonly before: Promise<void> | undefined;
}

/** Puts and deletes of single rows. Edits of one turn, or edits during a commit, share the next commit. */
export class SingleEdits {
  readonly #host: Host;
  readonly #branchHead: BranchHead;
  readonly #durability: Durability;
  /** The edits that reads wait for. */
  readonly pending = new PendingEdits();
  /** The last batch, until its commit begins. */
  #open: Batch | undefined;
  /** Settles when the edits of all batches are committed or refused. */
  #flushing: Promise<void> | undefined;

  constructor(host: Host, branchHead: BranchHead, durability: Durability) {
    this.#host = host;
    this.#branchHead = branchHead;
    this.#durability = durability;
  }

  /** Puts one row. Copies the value at once. A `signal` must come from `ending`. */
  put(key: string, value: unknown, options?: EditOptions): Promise<void> {
    checkKey(key);
    const kept = isBytes(value) ? new Uint8Array(value) : stringify(value);
    return this.#add(key, kept, options);
  }

  /** Deletes one row; `options` as for `put`. */
  delete(key: string, options?: EditOptions): Promise<void> {
    checkKey(key);
    return this.#add(key, undefined, options);
  }

  #add(
    key: string,
    value: string | Uint8Array | undefined,
    options: EditOptions | undefined,
  ): Promise<void> {
    const { bulks } = this.#branchHead;
    const over = bulks.underWay();
    const batch = this.#batch(bulks.calls);
    const done = new Promise<void>((resolve, reject) => {
      batch.edits.push({ key: JSON.stringify(key), value, over, options, resolve, reject });
    });
    this.pending.add(key, done);
    return done;
  }

  /** Returns the batch of an edit that waits for `before`. */
  #batch(before: Promise<void> | undefined): Batch {
    const open = this.#open;
    if (open !== undefined && (before === undefined || before === open.before)) return open;
    const batch = { edits: [], before };
    this.#open = batch;
    const flushing = this.#flush(batch).then(() => {
      if (this.#flushing === flushing) this.#flushing = undefined;
    });
    this.#flushing = flushing;
    return batch;
  }

  /** Resolves once all earlier edits are committed or refused. */
  async awaitFlush(): Promise<void> {
    await this.#flushing;
  }

  /** Resolves once no edits wait any more, including edits that are made during the wait. */
  async drainEdits(): Promise<void> {
    while (this.#flushing !== undefined) await this.#flushing;
  }

  async #flush(batch: Batch): Promise<void> {
    // While the core starts.
    const loading = loadWrites();
    loading.catch(() => {});
    await batch.before;
    try {
      await this.#branchHead.exclusively(async () => {
        this.#close(batch);
        const { commitEdits } = await loading;
        const [host, branchHead] = [this.#host, this.#branchHead];
        await commitEdits(host, branchHead, this.#durability, batch.edits.filter(isWanted));
      });
    } catch (cause) {
      // The queue failed before the commit began.
      this.#close(batch);
      for (const { reject } of batch.edits) reject(cause);
    }
  }

  #close(batch: Batch): void {
    if (this.#open === batch) this.#open = undefined;
  }
}

/** Reports whether an edit was not aborted. Marks its call: from now on an abort has no effect. */
function isWanted({ options, reject }: WaitingEdit): boolean {
  try {
    if (options !== undefined) committing(options.signal);
    return true;
  } catch (cause) {
    reject(cause);
    return false;
  }
}
