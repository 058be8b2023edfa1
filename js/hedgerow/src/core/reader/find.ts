/** Finds keys: one whose path is in memory, many in their order, or how many come before one. */
import * as Status from '../../base/abi/status.js';
import type { Budget } from './budget.js';
import { compareByteRange } from './bytes-view.js';
import { type ChunkCache, type Tree, wantsOf } from './chunk-cache.js';
import { Need, type Want } from './fault.js';
import { KeyBounds } from './key-range.js';
import { countBefore, lengthOf, levelOf, type Node, route, search } from './node.js';
import type { Operation } from './operation.js';
import type { Output } from './output.js';
import { ValueWriter } from './value-reader.js';

/** An entry of a leaf. */
export interface EntryAt {
  readonly leaf: Node;
  readonly index: number;
}

/** Walks down to the leaf that may have a key, and calls `pass` with each internal node and the chosen child. */
function leafOf(
  cache: ChunkCache,
  tree: Tree,
  key: Uint8Array,
  pass?: (node: Node, index: number) => void,
): Node | undefined {
  if (tree.count === 0) return undefined;
  let node = cache.top(tree);
  while (levelOf(node) > 0) {
    const index = route(node, key);
    pass?.(node, index);
    if (index === lengthOf(node)) return undefined;
    node = cache.child(node, index);
  }
  return node;
}

/** Returns the entry of a key; `undefined` if it is absent. Throws `Need`, or a `Fault`. */
export function findEntry(cache: ChunkCache, tree: Tree, key: Uint8Array): EntryAt | undefined {
  const leaf = leafOf(cache, tree, key);
  const index = leaf === undefined ? -1 : search(leaf, key);
  return leaf === undefined || index < 0 ? undefined : { leaf, index };
}

/** Counts the entries whose keys are below a key; with `passes` also the entry of the key. */
function rank(cache: ChunkCache, tree: Tree, key: Uint8Array, passes: boolean): number {
  let before = 0;
  const leaf = leafOf(cache, tree, key, (node, index) => {
    before += countBefore(node, index);
  });
  if (leaf === undefined) return before;
  const index = search(leaf, key);
  return before + (index < 0 ? ~index : index + (passes ? 1 : 0));
}

/** Counts the entries of a range by two descents. */
export class Count implements Operation {
  readonly #cache: ChunkCache;
  readonly #tree: Tree;
  readonly #range: KeyBounds;
  rows = 0;

  constructor(cache: ChunkCache, tree: Tree, flags: number, rangeBytes: Uint8Array) {
    this.#cache = cache;
    this.#tree = tree;
    this.#range = new KeyBounds(flags, rangeBytes);
  }

  step(): number {
    const { lower, upper } = this.#range;
    const before = () => (lower ? rank(this.#cache, this.#tree, lower.key, !lower.isIn) : 0);
    const until = () =>
      upper ? rank(this.#cache, this.#tree, upper.key, upper.isIn) : this.#tree.count;
    try {
      this.rows = Math.max(0, -before() + until());
    } catch (cause) {
      if (!(cause instanceof Need)) throw cause;
      throw this.#cache.needAlso(cause, wantsOf(until));
    }
    return Status.done;
  }
}

/** Finds many keys. The output has the values of existing keys, in the order of the keys. */
export class Find implements Operation {
  readonly #cache: ChunkCache;
  readonly #tree: Tree;
  /** The keys in their order, each with its position in the request. */
  readonly #keys: readonly (readonly [key: Uint8Array, position: number])[];
  #next = 0;
  readonly #values = new ValueWriter();
  readonly positions: number[] = [];

  constructor(cache: ChunkCache, tree: Tree, keys: readonly Uint8Array[]) {
    this.#cache = cache;
    this.#tree = tree;
    this.#keys = keys
      .map((key, position) => [key, position] as const)
      .sort(([a], [b]) => compareByteRange(a, 0, a.length, b));
  }

  step(budget: Budget, out: Output): number {
    for (;;) {
      if (!this.#values.rest(this.#cache, budget, out)) return Status.yield;
      const wanted = this.#keys[this.#next];
      if (wanted === undefined) return Status.done;
      if (budget.isSpent) return Status.yield;
      const [key, position] = wanted;
      const before = out.length;
      const entry = this.#findEntry(key);
      this.#next += 1;
      if (entry !== undefined) {
        this.positions.push(position);
        this.#values.write(entry.leaf, entry.index, out);
      }
      budget.spend(64 + out.length - before);
    }
  }

  #findEntry(key: Uint8Array): EntryAt | undefined {
    try {
      return findEntry(this.#cache, this.#tree, key);
    } catch (cause) {
      if (!(cause instanceof Need)) throw cause;
      throw this.#cache.needAlso(cause, this.#wantsAhead());
    }
  }

  *#wantsAhead(): Generator<Want, void, void> {
    for (const [key] of this.#keys.slice(this.#next + 1)) {
      yield* wantsOf(() => leafOf(this.#cache, this.#tree, key));
    }
  }
}
