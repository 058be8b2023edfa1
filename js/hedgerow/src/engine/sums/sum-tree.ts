import { until } from '../../base/abort-signal.js';
import { type OptionsOf, optionsOf } from '../../base/check-options.js';
import { part } from '../../base/dynamic-import.js';
import { HedgerowError } from '../../base/errors.js';
import { total } from '../../core/calls/read-calls.js';
import { checkTreeName } from '../../core/check-sum-tree-name.js';
import {
  SUM_CHANGE_OPTIONS,
  SUM_PUT_OPTIONS,
  SUM_SCAN_OPTIONS,
  type SumChangeOptions,
  type SumPutOptions,
  type SumScanOptions,
} from '../../core/sum-tree-options.js';
import { rootOf, toldDefinition } from '../../core/sum-tree-root.js';
import type {
  SumChange,
  SumItem,
  SumKey,
  SumLeaf,
  SumResult,
  SumRoot,
} from '../../core/sum-tree-types.js';
import type { Durability } from '../../storage/segment-store.js';
import type { ReadContext } from '../read/context.js';
import { makeRows, type Rows, yieldLoaded } from '../read/scan.js';
import { isFed, type Source } from '../write/source-kind.js';

/** Loads the code of reads and writes of sum trees. */
export const loadSums = () => part(() => import('./index.js'));

/**
 * A sum tree of a store, a branch or a snapshot. `db.sumTree(name)` makes this handle. Its root can be read at once;
 * all other code is loaded when a sum tree is first used.
 */
export class SumTree {
  readonly name: string;
  readonly #from: ReadContext;

  /** Call `db.sumTree(name)`. */
  constructor(from: ReadContext, name: string) {
    checkTreeName(name);
    this.#from = from;
    this.name = name;
  }

  /**
   * The hash and sum of all leaves in the last commit. Throws `not-ready` until the first build of a tree that follows
   * rows; every other read waits for the build.
   */
  get root(): SumRoot {
    this.#from.check();
    const { head, host } = this.#from;
    const totalBytes = total(head.host.engine, head.view, this.name);
    const [wanted, found] = [host.sums?.get(this.name), toldDefinition(totalBytes)];
    // A tree written by hand has no definition, and is never replaced.
    const isOurs =
      wanted === undefined || found === wanted || (found === '' && totalBytes.length > 0);
    if (isOurs || head.rows === 0) return rootOf(totalBytes);
    throw new HedgerowError(
      'not-ready',
      `the sum tree ${this.name} is being made: await a read of it`,
    );
  }

  /** Reads the leaf of a key; `undefined` if it is absent. */
  async get(key: SumKey): Promise<SumLeaf | undefined> {
    return (await this.getMany([key]))[0];
  }

  /** Reads the leaves of `keys`, in the order of `keys`; `undefined` for each absent one. */
  async getMany(keys: Iterable<SumKey>): Promise<(SumLeaf | undefined)[]> {
    return (await loadSums()).getMany(this.#from, this.name, keys);
  }

  /** Reads all leaves in the order of the tree: by their keys, with the bits of each byte reversed. */
  entries(options: SumScanOptions = {}): Rows<SumLeaf> {
    const load = async () => {
      const wanted = optionsOf('entries', options, SUM_SCAN_OPTIONS);
      return (await until(loadSums(), wanted.signal)).entries(this.#from, this.name, wanted);
    };
    return makeRows(() => yieldLoaded(load));
  }

  /** Reads the leaves that differ between two roots of the store (`db.root`). `to` is the head by default. */
  diff(from: string, to?: string): Rows<SumChange> {
    const load = async () => (await loadSums()).diff(this.#from, this.name, from, to);
    return makeRows(() => yieldLoaded(load));
  }

  /** Makes a proof for `verifySumProof` of the leaf of a key, or of its absence. */
  async prove(key: SumKey): Promise<Uint8Array> {
    return (await loadSums()).prove(this.#from, this.name, [key], false);
  }

  /** Makes one proof of many keys for `verifySumProofs`. */
  async proveMany(keys: Iterable<SumKey>): Promise<Uint8Array> {
    return (await loadSums()).prove(this.#from, this.name, keys, true);
  }

  /** Puts a leaf. */
  async put(
    key: SumKey,
    leaf: { readonly value: Uint8Array; readonly sum: bigint },
    options: SumChangeOptions = {},
  ): Promise<SumResult> {
    const wanted = optionsOf('put', options, SUM_CHANGE_OPTIONS);
    return this.putMany([{ ...leaf, key }], wanted);
  }

  /**
   * Puts many leaves in one commit, or no leaf at all. The last of equal keys wins. Rejects with
   * `invalid-argument/sum-overflow` when the sum of all leaves would not fit in 64 bits.
   */
  async putMany<Row = SumItem>(
    source: Source<Row>,
    options: SumPutOptions<Row> = {},
  ): Promise<SumResult> {
    const given: OptionsOf<typeof SUM_PUT_OPTIONS> = options;
    const wanted = optionsOf('putMany', given, SUM_PUT_OPTIONS);
    return this.#change(source, wanted, (sums, job) =>
      sums.putMany(this.#from, this.name, source, { ...wanted, ...job }),
    );
  }

  /** Deletes a leaf; ignores an absent one. */
  async delete(key: SumKey, options: SumChangeOptions = {}): Promise<SumResult> {
    return this.deleteMany([key], options);
  }

  /** Deletes many leaves in one commit. */
  async deleteMany(keys: Source<SumKey>, options: SumChangeOptions = {}): Promise<SumResult> {
    const wanted = optionsOf('deleteMany', options, SUM_CHANGE_OPTIONS);
    return this.#change(keys, wanted, (sums, job) =>
      sums.deleteMany(this.#from, this.name, keys, { ...wanted, ...job }),
    );
  }

  /** Registers the change before its code is loaded, so that closing waits for it. */
  async #change<T>(
    source: unknown,
    { signal, durability }: SumChangeOptions,
    change: (
      sums: Awaited<ReturnType<typeof loadSums>>,
      job: { readonly signal: AbortSignal | undefined; readonly durability: Durability },
    ) => Promise<T>,
  ): Promise<T> {
    const { write } = this.#from;
    this.#from.check();
    if (write === undefined) {
      throw new HedgerowError('invalid-argument', 'a snapshot cannot be written to');
    }
    return write(signal, isFed(source), async (usual, signal) =>
      change(await loadSums(), { signal, durability: durability ?? usual }),
    );
  }
}
