import { HedgerowError } from '../base/errors.js';
import { optionsOf } from '../base/options.js';
import { part } from '../base/parts.js';
import { until } from '../base/signal.js';
import { total } from '../core/calls/reads.js';
import { checkName } from '../core/sum-name.js';
import { rootOf, toldDefinition } from '../core/sum-root.js';
import type {
  SumChange,
  SumChangeOptions,
  SumItem,
  SumKey,
  SumLeaf,
  SumPutOptions,
  SumResult,
  SumRoot,
  SumScanOptions,
} from '../core/sum-types.js';
import type { ReadContext } from '../read/context.js';
import { loaded, type Rows, rowsOf } from '../read/scan.js';
import type { Durability } from '../storage/segment-store.js';
import { isFed, type Source } from '../write/source.js';

/** All that reads and writes of sum trees need. */
export const loadSums = () => part(() => import('./index.js'));

/**
 * Sum trees: what a page sees of them at once. All that they do is loaded when one of them is first
 * used; only their roots are told by the part that every page loads.
 *
 * Made by `db.sumTree(name)`, of a store, a branch or a snapshot.
 */
export class SumTree {
  readonly name: string;
  readonly #from: ReadContext;

  /** Call `db.sumTree(name)`. */
  constructor(from: ReadContext, name: string) {
    this.#from = from;
    this.name = name;
  }

  /**
   * Hash and sum of all leaves, as the last commit has them. Throws `not-ready` while a tree that is
   * to follow rows is made for the first time: any read waits for that.
   */
  get root(): SumRoot {
    this.#from.check();
    checkName(this.name);
    const { head, host } = this.#from;
    const told = total(host.engine, head.view, this.name);
    const [wanted, found] = [host.sums?.get(this.name), toldDefinition(told)];
    // One that was made by hand stays what it is.
    const isOurs = wanted === undefined || found === wanted || (found === '' && told.length > 0);
    if (isOurs || head.rows === 0) return rootOf(told);
    throw new HedgerowError(
      'not-ready',
      `the sum tree ${this.name} is being made: await a read of it`,
    );
  }

  /** The leaf of a key, or `undefined`. */
  async get(key: SumKey): Promise<SumLeaf | undefined> {
    return (await this.getMany([key]))[0];
  }

  /** The leaves of keys, in their order. */
  async getMany(keys: Iterable<SumKey>): Promise<(SumLeaf | undefined)[]> {
    return (await loadSums()).getMany(this.#from, this.name, keys);
  }

  /** All leaves, in the order of the tree: that of keys with the bits of each byte reversed. */
  entries(options: SumScanOptions = {}): Rows<SumLeaf> {
    const load = async () => {
      const wanted = optionsOf('entries', options, 'from signal');
      return (await until(loadSums(), wanted.signal)).entries(this.#from, this.name, wanted);
    };
    return rowsOf(() => loaded(load));
  }

  /** The leaves that differ between two roots of the store (`db.root`), of which the second is the
   * head by default. */
  diff(from: string, to?: string): Rows<SumChange> {
    const load = async () => (await loadSums()).diff(this.#from, this.name, from, to);
    return rowsOf(() => loaded(load));
  }

  /** A proof of what is under a key, or that nothing is, for `verifySumProof`. */
  async prove(key: SumKey): Promise<Uint8Array> {
    return (await loadSums()).prove(this.#from, this.name, [key], false);
  }

  /** One proof of many keys, for `verifySumProofs`. */
  async proveMany(keys: Iterable<SumKey>): Promise<Uint8Array> {
    return (await loadSums()).prove(this.#from, this.name, keys, true);
  }

  /** Puts a leaf. */
  async put(
    key: SumKey,
    leaf: { readonly value: Uint8Array; readonly sum: bigint },
    options: SumChangeOptions = {},
  ): Promise<SumResult> {
    const wanted = optionsOf('put', options, 'signal durability');
    return this.putMany([{ ...leaf, key }], wanted);
  }

  /**
   * Puts many leaves in one commit, all of them or none. Of equal keys the last wins. Fails with
   * `sum-overflow` when the sum of all leaves would not fit in 64 bits.
   */
  async putMany<Row = SumItem>(
    source: Source<Row>,
    options: SumPutOptions<Row> = {},
  ): Promise<SumResult> {
    const wanted = optionsOf('putMany', options, 'key sum value signal durability onProgress');
    return this.#change(source, wanted, (sums, job) =>
      sums.putMany(this.#from, this.name, source, { ...wanted, ...job }),
    );
  }

  /** Deletes a leaf; does nothing when there is none. */
  async delete(key: SumKey, options: SumChangeOptions = {}): Promise<SumResult> {
    return this.deleteMany([key], options);
  }

  /** Deletes many leaves in one commit. */
  async deleteMany(keys: Source<SumKey>, options: SumChangeOptions = {}): Promise<SumResult> {
    const wanted = optionsOf('deleteMany', options, 'signal durability');
    return this.#change(keys, wanted, (sums, job) =>
      sums.deleteMany(this.#from, this.name, keys, { ...wanted, ...job }),
    );
  }

  /** Closing waits for it from the call on, not only once what does it is loaded. */
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
