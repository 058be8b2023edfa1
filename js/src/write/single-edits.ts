import { HedgerowError } from '../base/errors.js';
import { checkKey } from '../base/key.js';
import { isBytes, stringify } from '../base/value.js';
import type { Host } from '../core/host.js';
import type { BranchHead, Overrides } from '../history/branch-head.js';
import { Pending } from '../history/pending.js';
import type { Durability } from '../storage/segment-store.js';
import type { Block } from './ingest.js';
import { tryEdits } from './try-edits.js';

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

/** What an edit itself is to blame for. */
const REFUSALS: ReadonlySet<string> = new Set([
  'invalid-key',
  'invalid-value',
  'invalid-argument',
  'sum-overflow',
]);

/**
 * Puts and deletes of single rows. Those made in one turn, or while a commit is under way,
 * share the next commit.
 */
export class SingleEdits {
  readonly #host: Host;
  readonly #branchHead: BranchHead;
  readonly #durability: Durability;
  /** What reads wait for. */
  readonly pending = new Pending();
  #edits: Edit[] = [];
  #waiters: Waiter[] = [];
  #flushing: Promise<void> | undefined;

  constructor(host: Host, branchHead: BranchHead, durability: Durability) {
    this.#host = host;
    this.#branchHead = branchHead;
    this.#durability = durability;
  }

  /** Puts one row. The value is taken as it is now. */
  put(key: string, value: unknown): Promise<void> {
    checkKey(key);
    const kept = isBytes(value) ? new Uint8Array(value) : stringify(value);
    return this.#add(key, {
      key: JSON.stringify(key),
      value: kept,
      over: this.#branchHead.bulks.underWay(),
    });
  }

  /** Deletes one row. */
  delete(key: string): Promise<void> {
    checkKey(key);
    return this.#add(key, { key: JSON.stringify(key), over: this.#branchHead.bulks.underWay() });
  }

  #add(key: string, edit: Edit): Promise<void> {
    this.#edits.push(edit);
    const done = new Promise<void>((resolve, reject) => this.#waiters.push({ resolve, reject }));
    this.pending.add(key, done);
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
    return this.#branchHead
      .exclusively(async () => {
        const [edits, waiters] = [this.#edits, this.#waiters];
        this.#edits = [];
        this.#waiters = [];
        this.#flushing = undefined;
        await this.#commitAll(edits, waiters);
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
    const [host, branchHead] = [this.#host, this.#branchHead];
    const makesRoom = blocks.every(({ format }) => format === 'deletes');
    return branchHead.retry(() =>
      tryEdits(host, branchHead, this.#durability, blocks, { makesRoom }),
    );
  }

  /** Commits edits, and settles those who wait for them: one that is refused is refused alone. */
  async #commitAll(edits: readonly Edit[], waiters: readonly Waiter[]): Promise<void> {
    if (edits.length === 0) return;
    try {
      await this.#commit(groups(edits).map(blockOf));
    } catch (cause) {
      const isRefusal = cause instanceof HedgerowError && REFUSALS.has(cause.code);
      const { key, row = lastOf(edits, key) } = cause as HedgerowError;
      if (isRefusal && row >= 0) {
        // Its position means nothing to the caller of a single put.
        const message = cause.message.replace(/^row \d+: /, '');
        waiters[row]?.reject(new HedgerowError(cause.code, message, { cause, key }));
        const isOther = (_: unknown, at: number) => at !== row;
        return this.#commitAll(edits.filter(isOther), waiters.filter(isOther));
      }
      if (!isRefusal || edits.length === 1) {
        for (const { reject } of waiters) reject(cause);
        return;
      }
      // By a sum tree, which does not say which of them.
      const half = edits.length >> 1;
      await this.#commitAll(edits.slice(0, half), waiters.slice(0, half));
      return this.#commitAll(edits.slice(half), waiters.slice(half));
    }
    for (const { key, over } of edits) for (const overrides of over) overrides.add(key);
    for (const { resolve } of waiters) resolve();
  }
}

/** The last edit of a key, which is the one that counts; -1 when there is none. */
function lastOf(edits: readonly Edit[], key: string | undefined): number {
  return edits.map((edit) => edit.key).lastIndexOf(JSON.stringify(key));
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
