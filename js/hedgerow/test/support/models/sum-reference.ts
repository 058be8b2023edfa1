/**
 * A sum tree by the rules, node by node, in memory. It is slow, and shares no code with the code under test, not even
 * the hash.
 */
import { createHash } from 'node:crypto';

export interface Leaf {
  readonly value: Uint8Array;
  readonly sum: bigint;
}

interface Node {
  readonly hash: Buffer;
  readonly sum: bigint;
  readonly sides?: readonly [Node, Node];
}

export const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
export const bytes = (text: string) => Uint8Array.from(Buffer.from(text, 'hex'));

export function sha256(...parts: (Uint8Array | string)[]): Buffer {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
}

function bigEndian(value: bigint | number, length: number): Buffer {
  return Buffer.from(value.toString(16).padStart(2 * length, '0'), 'hex');
}

const leafNode = ({ value, sum }: Leaf): Node => ({ hash: sha256(value, bigEndian(sum, 8)), sum });

function branch(left: Node, right: Node): Node {
  const sum = left.sum + right.sum;
  if (sum >= 2n ** 64n) throw new Error('the sums do not fit');
  const hash = sha256(left.hash, right.hash, bigEndian(sum, 8));
  return { hash, sum, sides: [left, right] };
}

/** Empty subtrees by their depth. */
export const EMPTY: Node[] = [leafNode({ value: new Uint8Array(), sum: 0n })];
while (EMPTY.length <= 256) EMPTY.unshift(branch(EMPTY[0]!, EMPTY[0]!));

const sideOf = (key: Uint8Array, depth: number) => (key[depth >> 3]! >> (depth % 8)) & 1;

function build(leaves: readonly (readonly [Uint8Array, Leaf])[], depth: number): Node {
  if (leaves.length === 0) return EMPTY[depth]!;
  if (depth === 256) return leafNode(leaves[0]![1]);
  const below = (side: number) =>
    build(
      leaves.filter(([key]) => sideOf(key, depth) === side),
      depth + 1,
    );
  return branch(below(0), below(1));
}

/** Writes siblings in the order of the proof. */
class Proof {
  readonly #nodes: Buffer[] = [];
  readonly #bits: boolean[] = [];

  tell(node: Node, depth: number): void {
    const isEmpty = node === EMPTY[depth];
    this.#bits.push(isEmpty);
    if (!isEmpty) this.#nodes.push(node.hash, bigEndian(node.sum, 8));
  }

  encoded(width: number): Uint8Array {
    const bitmap = Buffer.alloc(Math.ceil(this.#bits.length / 8));
    for (const [at, bit] of this.#bits.entries()) if (bit) bitmap[at >> 3]! |= 1 << (at & 7);
    const count = bigEndian(this.#nodes.length / 2, width);
    return Uint8Array.from(Buffer.concat([count, ...this.#nodes, bitmap]));
  }
}

export class ReferenceTree {
  readonly leaves: ReadonlyMap<string, Leaf>;
  readonly #root: Node;

  /** Leaves by their keys in hexadecimal. */
  constructor(leaves: Iterable<readonly [string, Leaf]>) {
    this.leaves = new Map(leaves);
    this.#root = build(
      [...this.leaves].map(([key, leaf]) => [bytes(key), leaf] as const),
      0,
    );
  }

  get root(): { hash: string; sum: bigint } {
    return { hash: hex(this.#root.hash), sum: this.#root.sum };
  }

  /** Returns the true claim of a key. */
  claim(key: Uint8Array): Leaf | null {
    return this.leaves.get(hex(key)) ?? null;
  }

  prove(key: Uint8Array): Uint8Array {
    return this.#told([key]).encoded(2);
  }

  proveMany(keys: readonly Uint8Array[]): Uint8Array {
    return this.#told(keys).encoded(4);
  }

  #told(keys: readonly Uint8Array[]): Proof {
    const proof = new Proof();
    const visit = (node: Node, among: readonly Uint8Array[], depth: number): void => {
      if (depth === 256) return;
      const sides = node.sides ?? [EMPTY[depth + 1]!, EMPTY[depth + 1]!];
      const asked = sides.map((_, side) => among.filter((key) => sideOf(key, depth) === side));
      for (const side of [0, 1]) {
        if (asked[side]!.length > 0) visit(sides[side]!, asked[side]!, depth + 1);
      }
      // A side without a claim is written after the other side.
      for (const side of [0, 1]) if (asked[side]!.length === 0) proof.tell(sides[side]!, depth + 1);
    };
    if (keys.length > 0) visit(this.#root, keys, 0);
    return proof;
  }
}
