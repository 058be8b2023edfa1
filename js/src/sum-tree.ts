/**
 * Sum trees: what a page sees of them at once. All that they do is loaded when one of them is first
 * used; only their roots are told by the part that every page loads.
 */
import { hex } from './engine.js';
import { HedgerowError } from './errors.js';
import { summing } from './later.js';
import type { Standpoint } from './reads.js';
import type { Rows } from './scan.js';
import type { Durability } from './segment-store.js';
import type { Source } from './source.js';

/** The root of a sum tree: all that a verifier needs to know of it. */
export interface SumRoot {
  /** 32 bytes in hexadecimal. */
  readonly hash: string;
  /** The sum of all leaves. */
  readonly sum: bigint;
}

/** The key of a leaf: 32 bytes, or a text that stands for its SHA-256 (of its UTF-8). */
export type SumKey = Uint8Array | string;

/** A leaf as it is put. A leaf without a value and with the sum 0 is none: it deletes. */
export interface SumItem {
  readonly key: SumKey;
  /** At most 1 MiB. */
  readonly value: Uint8Array;
  /** From 0 to 2^64 - 1. */
  readonly sum: bigint;
}

/** A leaf as it is read. */
export interface SumLeaf {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
  readonly sum: bigint;
}

/** A leaf that changed; without `before` it is new, without `after` it is gone. */
export interface SumChange {
  readonly key: Uint8Array;
  readonly before?: SumLeaf;
  readonly after?: SumLeaf;
}

/** What the leaves of a sum tree that follows rows are made of. */
export interface SumDefinition {
  /** Pointer to the text (or number) that its key stands for; the key of the row by default. */
  readonly key?: string | undefined;
  /** Pointer to its sum: a whole number, or the digits of one in a string. */
  readonly sum: string;
  /** Pointer to its value, which is the JSON text of what is there; the whole row by default. */
  readonly value?: string | undefined;
  /** Only rows whose keys start with this. */
  readonly prefix?: string | undefined;
}

/** Definitions by the names that `sumTree` takes. */
export type SumDefinitions = Readonly<Record<string, SumDefinition>>;

/** How a sum tree is changed. */
export interface SumChangeOptions {
  readonly signal?: AbortSignal | undefined;
  readonly durability?: Durability | undefined;
}

/** How many leaves are put. */
export interface SumPutOptions<Row = SumItem> extends SumChangeOptions {
  /** Where key, sum and value are in rows that are no `SumItem`s: pointers, as in a definition. */
  readonly key?: string | undefined;
  readonly sum?: string | undefined;
  readonly value?: string | undefined;
  readonly onProgress?: ((progress: { readonly leaves: number }) => void) | undefined;
  /** Only for its type. */
  readonly row?: Row;
}

/** What a change came to. */
export interface SumResult {
  readonly root: SumRoot;
  /** Leaves taken from the source. */
  readonly leaves: number;
  readonly ms: number;
  readonly slices: number;
  readonly longestSliceMs: number;
}

/** Which leaves are read. */
export interface SumScanOptions {
  /** The key to begin with, or what would come after it. */
  readonly from?: SumKey | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The hash of a tree without leaves. */
const EMPTY_HASH = 'b1e8e8f2dc3b266452988cfe169aa73be25405eeead02ab5dd6b3c6fd0ca8d67';

/** Bytes of hash and sum in what a commit tells of a tree. */
export const ROOT_BYTES = 40;

/** Reads the root at the start of what a commit tells of a tree. */
export function rootOf(told: Uint8Array): SumRoot {
  if (told.length === 0) return { hash: EMPTY_HASH, sum: 0n };
  const view = new DataView(told.buffer, told.byteOffset);
  return { hash: hex(told.subarray(0, 32)), sum: view.getBigUint64(32, true) };
}

/** See the module's text. Made by `db.sumTree(name)`, of a store, a branch or a snapshot. */
export class SumTree {
  readonly name: string;
  readonly #from: Standpoint;

  /** Call `db.sumTree(name)`. */
  constructor(from: Standpoint, name: string) {
    this.#from = from;
    this.name = name;
  }

  /**
   * Hash and sum of all leaves, as the last commit has them. Throws `not-ready` while a tree that is
   * to follow rows is made for the first time: any read waits for that.
   */
  get root(): SumRoot {
    this.#from.check();
    const { head, host } = this.#from;
    const told = host.engine.total(head.view, this.name);
    if (told.length === 0 && head.rows > 0 && host.sums?.[this.name] !== undefined) {
      throw new HedgerowError('not-ready', `the sum tree ${this.name} is being made`);
    }
    return rootOf(told);
  }

  /** The leaf of a key, or `undefined`. */
  async get(key: SumKey): Promise<SumLeaf | undefined> {
    return (await this.getMany([key]))[0];
  }

  /** The leaves of keys, in their order. */
  async getMany(keys: Iterable<SumKey>): Promise<(SumLeaf | undefined)[]> {
    return (await summing()).getMany(this.#from, this.name, keys);
  }

  /** All leaves, in the order of the tree: that of keys with the bits of each byte reversed. */
  entries(options: SumScanOptions = {}): Rows<SumLeaf> {
    return later(async () => (await summing()).entries(this.#from, this.name, options));
  }

  /** The leaves that differ between two roots of the store (`db.root`), of which the second is the
   * head by default. */
  diff(from: string, to?: string): Rows<SumChange> {
    return later(async () => (await summing()).diff(this.#from, this.name, from, to));
  }

  /** A proof of what is under a key, or that nothing is, for `verifySumProof`. */
  async prove(key: SumKey): Promise<Uint8Array> {
    return (await summing()).prove(this.#from, this.name, [key], false);
  }

  /** One proof of many keys, for `verifySumProofs`. */
  async proveMany(keys: Iterable<SumKey>): Promise<Uint8Array> {
    return (await summing()).prove(this.#from, this.name, keys, true);
  }

  /** Puts a leaf. */
  async put(
    key: SumKey,
    leaf: { readonly value: Uint8Array; readonly sum: bigint },
    options: SumChangeOptions = {},
  ): Promise<SumResult> {
    return this.putMany([{ ...leaf, key }], options);
  }

  /**
   * Puts many leaves in one commit, all of them or none. Of equal keys the last wins. Fails with
   * `sum-overflow` when the sum of all leaves would not fit in 64 bits.
   */
  async putMany<Row = SumItem>(
    source: Source<Row>,
    options: SumPutOptions<Row> = {},
  ): Promise<SumResult> {
    return (await summing()).putMany(this.#from, this.name, source, options);
  }

  /** Deletes a leaf; does nothing when there is none. */
  async delete(key: SumKey, options: SumChangeOptions = {}): Promise<SumResult> {
    return this.deleteMany([key], options);
  }

  /** Deletes many leaves in one commit. */
  async deleteMany(keys: Source<SumKey>, options: SumChangeOptions = {}): Promise<SumResult> {
    return (await summing()).deleteMany(this.#from, this.name, keys, options);
  }
}

/** Rows of a source that is yet to be loaded. */
function later<T>(load: () => Promise<AsyncIterable<T>>): Rows<T> {
  const rows = {
    async *[Symbol.asyncIterator]() {
      yield* await load();
    },
    async toArray() {
      const all: T[] = [];
      for await (const row of rows) all.push(row);
      return all;
    },
  };
  return rows;
}
