/** Puts and deletes of single rows. Those made in one turn, or while a commit is under way,
 * share the next commit. */
import type { Commits, Overrides } from './commit.js';
import { HedgerowError } from './errors.js';
import type { Host } from './host.js';
import type { Block } from './ingest.js';
import { checkKey } from './key.js';
import type { Durability } from './segment-store.js';
import { tryEdits } from './try-edits.js';
import { checkValue, isBytes, stringify } from './value.js';

/** A put or a delete of one key. */
export interface Edit {
  /** As JSON text. */
  readonly key: string;
  /** As JSON text or bytes; absent when the row is to be deleted. */
  readonly value?: string | Uint8Array;
  /** The bulk changes that were under way when it was called for. */
  readonly over: readonly Overrides[];
}

interface Waiter {
  resolve(): void;
  reject(cause: unknown): void;
}

/** See the module's text. */
export class SingleEdits {
  readonly #host: Host;
  readonly #commits: Commits;
  readonly #durability: Durability;
  #edits: Edit[] = [];
  #waiters: Waiter[] = [];
  #flushing: Promise<void> | undefined;

  constructor(host: Host, commits: Commits, durability: Durability) {
    this.#host = host;
    this.#commits = commits;
    this.#durability = durability;
  }

  /** Puts one row. The value is taken as it is now. */
  put(key: string, value: unknown): Promise<void> {
    checkKey(key);
    const kept = isBytes(value) ? new Uint8Array(value) : stringify(checkValue(value));
    return this.#add({ key: JSON.stringify(key), value: kept, over: this.#commits.underWay() });
  }

  /** Deletes one row. */
  delete(key: string): Promise<void> {
    checkKey(key);
    return this.#add({ key: JSON.stringify(key), over: this.#commits.underWay() });
  }

  #add(edit: Edit): Promise<void> {
    this.#edits.push(edit);
    const done = new Promise<void>((resolve, reject) => this.#waiters.push({ resolve, reject }));
    this.#flushing ??= Promise.resolve().then(() => this.#flush());
    return done;
  }

  /** Resolves when the edits that wait for their commit now are committed or refused. */
  async flushed(): Promise<void> {
    await this.#flushing;
  }

  /** Resolves when all edits so far are committed or refused. */
  async settled(): Promise<void> {
    while (this.#flushing !== undefined) await this.#flushing;
  }

  #flush(): Promise<void> {
    return this.#commits
      .exclusively(async () => {
        const [edits, waiters] = [this.#edits, this.#waiters];
        this.#edits = [];
        this.#waiters = [];
        this.#flushing = undefined;
        try {
          await this.#commitAll(edits, waiters);
          for (const { resolve } of waiters) resolve();
        } catch (cause) {
          for (const { reject } of waiters) reject(cause);
        }
      })
      .catch((cause: unknown) => {
        // It did not even begin.
        const waiters = this.#waiters;
        this.#edits = [];
        this.#waiters = [];
        this.#flushing = undefined;
        for (const { reject } of waiters) reject(cause);
      });
  }

  #commit(blocks: readonly Block[]): Promise<object> {
    const [host, commits] = [this.#host, this.#commits];
    const makesRoom = blocks.every(({ format }) => format === 'deletes');
    return commits.retry(() => tryEdits(host, commits, this.#durability, blocks, { makesRoom }));
  }

  /** Commits the edits; one that the core refuses is rejected, and removed from both lists. */
  async #commitAll(edits: Edit[], waiters: Waiter[]): Promise<void> {
    while (edits.length > 0) {
      try {
        await this.#commit(groups(edits).map(blockOf));
        for (const { key, over } of edits) for (const overrides of over) overrides.add(key);
        return;
      } catch (cause) {
        if (!(cause instanceof HedgerowError) || cause.row === undefined) throw cause;
        edits.splice(cause.row, 1);
        // The position means nothing to the caller of a single put.
        const [refused] = waiters.splice(cause.row, 1);
        refused?.reject(new HedgerowError(cause.code, 'the row was refused', { cause }));
      }
    }
  }
}

/** Splits edits where puts and deletes meet: a block holds either. */
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

/** The block of some edits: all puts, or all deletes. */
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
