import { committing } from '../../base/abort-signal.js';
import { durabilityCheck, type OptionsOf, signalCheck } from '../../base/check-options.js';
import { isBytes, stringify } from '../../base/check-value.js';
import { HedgerowError, isRefusal, kindOfError } from '../../base/errors.js';
import { checkKey } from '../../base/key.js';
import type { Host } from '../../core/operation-host.js';
import type { Durability } from '../../storage/segment-store.js';
import type { BranchHead, Overrides } from '../history/branch-head.js';
import { PendingEdits } from '../history/pending-edits.js';
import type { Block } from './ingest.js';
import { tryEdits } from './try-edits.js';

/** A put or a delete of one key. */
export interface Edit {
  /** JSON text. */
  readonly key: string;
  /** JSON text or bytes; absent for a delete. */
  readonly value?: string | Uint8Array | undefined;
  /** The overrides of the bulk changes in progress at the call. */
  readonly over: readonly Overrides[];
}

export const EDIT_OPTIONS = {
  /** Overrides the durability of the store. The edits of one turn share a commit, which is strict if one of them is. */
  durability: durabilityCheck,
  /** Takes the edit back while it waits for its commit; from then on the outcome of the commit decides. */
  signal: signalCheck,
};

/** Options of a put or delete of one row. */
export interface EditOptions extends OptionsOf<typeof EDIT_OPTIONS> {}

/** An edit that waits for its commit. */
interface WaitingEdit extends Edit {
  readonly options: EditOptions | undefined;
  resolve(): void;
  reject(cause: unknown): void;
}

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
    await batch.before;
    try {
      await this.#branchHead.exclusively(async () => {
        this.#close(batch);
        await this.#commitAll(batch.edits.filter(isWanted));
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

  #commit(edits: readonly WaitingEdit[]): Promise<object> {
    const [host, branchHead] = [this.#host, this.#branchHead];
    const blocks = groups(edits).map(blockOf);
    const freesSpace = blocks.every(({ format }) => format === 'deletes');
    const isStrict = ({ options }: WaitingEdit) =>
      (options?.durability ?? this.#durability) === 'strict';
    const durability = edits.some(isStrict) ? 'strict' : 'relaxed';
    return branchHead.retry(() => tryEdits(host, branchHead, durability, blocks, { freesSpace }));
  }

  /** Commits edits and settles their promises. A refused edit does not make the others fail. */
  async #commitAll(edits: readonly WaitingEdit[]): Promise<void> {
    if (edits.length === 0) return;
    try {
      await this.#commit(edits);
    } catch (cause) {
      const { key, row = lastOf(edits, key) } = cause as HedgerowError;
      if (isRefusal(cause) && row >= 0) {
        // Remove the position: the caller of a single put does not know it.
        const message = cause.message.replace(/^row \d+: /, '');
        edits[row]?.reject(new HedgerowError(kindOfError(cause), message, { cause, key }));
        return this.#commitAll(edits.filter((_, at) => at !== row));
      }
      if (!isRefusal(cause) || edits.length === 1) {
        for (const { reject } of edits) reject(cause);
        return;
      }
      // A sum tree refused one of the edits, without its position: bisect.
      const half = edits.length >> 1;
      await this.#commitAll(edits.slice(0, half));
      return this.#commitAll(edits.slice(half));
    }
    for (const { key, over } of edits) for (const overrides of over) overrides.add(key);
    for (const { resolve } of edits) resolve();
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

/** Returns the position of the last edit of a key, which is the one that counts, or -1. */
function lastOf(edits: readonly Edit[], key: string | undefined): number {
  return edits.map((edit) => edit.key).lastIndexOf(JSON.stringify(key));
}

/** Splits edits into runs of puts and runs of deletes: a block holds one kind. */
function groups(edits: readonly Edit[]): Edit[][] {
  const split: Edit[][] = [];
  let isPut: boolean | undefined;
  for (const edit of edits) {
    if (isPut !== (edit.value !== undefined)) split.push([]);
    isPut = edit.value !== undefined;
    split[split.length - 1]?.push(edit);
  }
  return split;
}

/** Makes the block of edits that are all puts or all deletes. */
export function blockOf(edits: readonly Edit[]): Block {
  const values: { row: number; bytes: Uint8Array }[] = [];
  const members: string[] = [];
  for (const [row, { key, value }] of edits.entries()) {
    members.push(key);
    if (typeof value === 'string') members.push(value);
    else if (value !== undefined) {
      members.push('0');
      values.push({ row, bytes: value });
    }
  }
  const format = edits[0]?.value === undefined ? ('deletes' as const) : ('pairs' as const);
  return { text: `[${members.join(',')}]`, format, rows: edits.length, values };
}
