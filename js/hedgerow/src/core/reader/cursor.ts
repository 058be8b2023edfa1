/** Walks the leaves of a tree that hold a range of keys, in either direction: `crate/trees/src/tree/cursor.rs`. */
import * as Field from '../../base/abi/field.js';
import * as Status from '../../base/abi/status.js';
import { compareByteRange } from './bytes-view.js';
import type { ChunkCache, Tree } from './chunk-cache.js';
import { Fault, type Want } from './fault.js';
import type { KeyBounds } from './key-range.js';
import { childHash, countBefore, lengthOf, levelOf, memberKey, type Node, route } from './node.js';

/** The part of a leaf that is in the range and not read yet. */
export interface LeafRun {
  readonly leaf: Node;
  /** The first entry of the part, and the one after its last. */
  from: number;
  to: number;
}

/** An internal node. Children from `next` on are not walked yet; in reverse, children before `next`. */
interface Frame {
  readonly node: Node;
  next: number;
}

/** Walks the leaves of a tree that hold a range of keys. */
export class Cursor {
  readonly #cache: ChunkCache;
  #root: Tree | undefined;
  readonly #range: KeyBounds;
  readonly #reverse: boolean;
  readonly #stack: Frame[] = [];
  #run: LeafRun | undefined;
  /** The last key of the previous leaf (in reverse, its first). The next leaf must be beyond it. */
  #edge: Uint8Array | undefined;
  /** The number of entries that are still to be skipped. */
  #skip: number;

  constructor(cache: ChunkCache, tree: Tree, range: KeyBounds, reverse: boolean, skip: number) {
    this.#cache = cache;
    this.#root = tree.count > 0 ? tree : undefined;
    this.#range = range;
    this.#reverse = reverse;
    this.#skip = skip;
  }

  /** Returns the next part to read; `undefined` at the end. Throws `Need`, or a `Fault`. */
  run(): LeafRun | undefined {
    for (;;) {
      if (this.#run !== undefined && this.#run.from < this.#run.to) return this.#run;
      this.#run = undefined;
      if (this.#root !== undefined) {
        this.#enter(this.#cache.top(this.#root));
        this.#root = undefined;
        continue;
      }
      const frame = this.#stack[this.#stack.length - 1];
      if (frame === undefined) return undefined;
      this.#skipChildren(frame);
      const index = this.#nextChild(frame);
      if (index === undefined) {
        this.#stack.pop();
        continue;
      }
      const child = this.#cache.child(frame.node, index);
      if (levelOf(child) === 0) this.#checkOrder(childHash(frame.node, index), child);
      frame.next = this.#reverse ? index : index + 1;
      this.#enter(child);
    }
  }

  /**
   * Skips whole children. The end of the range does not matter: entries skipped beyond it are not in the range either.
   */
  #skipChildren(frame: Frame): void {
    const { node, next } = frame;
    const near = this.#reverse ? this.#range.upper : this.#range.lower;
    // Children after the first leaf do not begin before the range.
    if (this.#skip === 0 || (near !== undefined && this.#edge === undefined)) return;
    const before = countBefore(node, next);
    let [low, high] = this.#reverse ? [0, next] : [next, lengthOf(node)];
    while (low < high) {
      const middle = (low + high) >> 1;
      const isLow = this.#reverse
        ? before - countBefore(node, middle) > this.#skip
        : countBefore(node, middle + 1) - before <= this.#skip;
      if (isLow) low = middle + 1;
      else high = middle;
    }
    this.#skip -= Math.abs(before - countBefore(node, low));
    frame.next = low;
  }

  /** Checks the order of keys across leaves, which a parent alone cannot show. */
  #checkOrder(hash: Uint8Array, leaf: Node): void {
    const [first, last] = [memberKey(leaf, 0), memberKey(leaf, lengthOf(leaf) - 1)];
    const [near, far] = this.#reverse ? [last, first] : [first, last];
    if (this.#edge !== undefined) {
      const order = compareByteRange(near, 0, near.length, this.#edge);
      if (this.#reverse ? order >= 0 : order <= 0) {
        const malformed = { field: Field.keyOrder, offset: 0, expected: 0, got: 0 };
        throw new Fault(Status.corruptChunk, hash, malformed);
      }
    }
    this.#edge = far;
  }

  /** Returns the child to enter next; `undefined` if it is not in the range. */
  #nextChild({ node, next }: Frame): number | undefined {
    if (this.#reverse) {
      return next > 0 && !this.#range.isBelow(node, next - 1) ? next - 1 : undefined;
    }
    const hasEnded = next > 0 && this.#range.endsBy(node, next - 1);
    return next < lengthOf(node) && !hasEnded ? next : undefined;
  }

  #enter(node: Node): void {
    const { lower, upper } = this.#range;
    if (levelOf(node) === 0) {
      const [from, to] = this.#range.within(node);
      this.#run = { leaf: node, from, to };
      const skipped = Math.min(this.#skip, Math.max(to - from, 0));
      this.#skip -= skipped;
      this.advance(skipped);
      return;
    }
    const length = lengthOf(node);
    const last = upper === undefined ? length : Math.min(route(node, upper.key) + 1, length);
    const first = lower === undefined ? 0 : route(node, lower.key);
    this.#stack.push({ node, next: this.#reverse ? last : first });
  }

  /** Marks entries of the run as read. */
  advance(count: number): void {
    if (this.#run === undefined) return;
    if (this.#reverse) this.#run.to -= count;
    else this.#run.from += count;
  }

  /** Returns the wants of the leaves that the walk reads next, at most `most`. Looks at nodes in memory only. */
  wantsAhead(most: number): Generator<Want, void, void> {
    return this.#cache.wantsOf(this.#leavesAhead(most));
  }

  *#leavesAhead(most: number): Generator<Uint8Array, void, void> {
    const frame = this.#stack[this.#stack.length - 1];
    if (frame === undefined || levelOf(frame.node) > 1) return;
    const ahead = { ...frame };
    for (let left = most; left > 0; left--) {
      const index = this.#nextChild(ahead);
      if (index === undefined) return;
      yield childHash(ahead.node, index);
      ahead.next = this.#reverse ? index : index + 1;
    }
  }
}
