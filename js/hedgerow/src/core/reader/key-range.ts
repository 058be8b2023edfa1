/** A range of keys, as `base/range.ts` encodes it. */
import * as ReadFlag from '../../base/abi/read-flag.js';
import { compareByteRange, readU32 } from './bytes-view.js';
import { compareKeyAt, lengthOf, type Node, search } from './node.js';

/** An end of a range. */
interface KeyBound {
  readonly key: Uint8Array;
  /** Whether the range includes the key. */
  readonly isIn: boolean;
}

const compare = (a: Uint8Array, b: Uint8Array) => compareByteRange(a, 0, a.length, b);

/** Returns the bound that leaves fewer keys; `sign` is 1 for lower bounds, -1 for upper ones. */
function tighter(
  a: KeyBound | undefined,
  b: KeyBound | undefined,
  sign: number,
): KeyBound | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  const order = sign * compare(a.key, b.key);
  if (order === 0) return a.isIn ? b : a;
  return order > 0 ? a : b;
}

/** Returns the first key after all keys with a prefix; `undefined` if no key does. */
function afterPrefix(prefix: Uint8Array): KeyBound | undefined {
  let { length } = prefix;
  while (length > 0 && prefix[length - 1] === 0xff) length -= 1;
  if (length === 0) return undefined;
  const key = prefix.slice(0, length);
  key[length - 1] = (key[length - 1] as number) + 1;
  return { key, isIn: false };
}

/** A range of keys, in the order of their bytes. */
export class KeyBounds {
  readonly lower: KeyBound | undefined;
  readonly upper: KeyBound | undefined;

  /** Reads the parts of a range that `flags` names; each is a length of 32 bits, and its bytes. */
  constructor(flags: number, bytes: Uint8Array) {
    let at = 0;
    const next = (flag: number): Uint8Array | undefined => {
      if ((flags & flag) === 0) return undefined;
      const start = at + 4;
      at = start + readU32(bytes, at);
      // The caller reuses its buffer.
      return bytes.slice(start, at);
    };
    const prefix = next(ReadFlag.prefix);
    const readBound = (open: number, closed: number): KeyBound | undefined => {
      const key = next(open) ?? next(closed);
      return key && { key, isIn: (flags & open) === 0 };
    };
    const lower = readBound(ReadFlag.gt, ReadFlag.gte);
    const upper = readBound(ReadFlag.lt, ReadFlag.lte);
    this.lower = tighter(prefix && { key: prefix, isIn: true }, lower, 1);
    this.upper = tighter(prefix && afterPrefix(prefix), upper, -1);
  }

  /** Returns whether the key at `index` of a node is below the range. */
  isBelow(node: Node, index: number): boolean {
    if (this.lower === undefined) return false;
    return compareKeyAt(node, index, this.lower.key) < (this.lower.isIn ? 0 : 1);
  }

  /** Returns whether the range has no keys after the key at `index` of a node. */
  endsBy(node: Node, index: number): boolean {
    return this.upper !== undefined && compareKeyAt(node, index, this.upper.key) >= 0;
  }

  /** Returns the first entry of a leaf in the range, and the one after the last. */
  within(leaf: Node): [from: number, to: number] {
    const at = (from: number, { key }: KeyBound, passes: boolean): number => {
      const found = search(leaf, key, from);
      return found < 0 ? ~found : found + (passes ? 1 : 0);
    };
    const { lower, upper } = this;
    const from = lower === undefined ? 0 : at(0, lower, !lower.isIn);
    return [from, upper === undefined ? lengthOf(leaf) : at(from, upper, upper.isIn)];
  }
}
