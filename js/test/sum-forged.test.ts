/** Changed and forged proofs of sums do not verify. */
import { describe, expect, it, vi } from 'vitest';
import { verifySumProof, verifySumProofs } from '../src/sum-proof/index.js';
import { type Random, random } from './random.js';
import { bytes, EMPTY, hex, type Leaf, ReferenceTree } from './sum-reference.js';
import { CASES, MANY } from './sum-vectors.js';

vi.setConfig({ testTimeout: 240_000 });

function flipped(of: Uint8Array, bit: number): Uint8Array {
  const other = of.slice();
  other[bit >> 3]! ^= 1 << (bit & 7);
  return other;
}

function without(of: Uint8Array, from: number, to: number): Uint8Array {
  return Uint8Array.of(...of.subarray(0, from), ...of.subarray(to));
}

/** A claim and its alleged proof. */
interface Proved {
  readonly key: Uint8Array;
  readonly claim: Leaf | null;
  readonly proof: Uint8Array;
}

const bitsOf = ({ length }: Uint8Array) => Array.from({ length: 8 * length }, (_, bit) => bit);
const bitsOfSum = Array.from({ length: 64 }, (_, bit) => 1n << BigInt(bit));

// One leaf alone, one among a hundred, one whose neighbour differs in its last bits; and absent ones.
const SUBJECTS = CASES.flatMap(({ name, root, leaves, proofs }) => {
  const tree = new ReferenceTree(leaves);
  const present = bytes([...leaves.keys()].at(-1)!);
  const listed = proofs.filter(({ claim }) => claim === null).slice(0, 1);
  const keys = [present, flipped(present, 255), ...listed.map(({ key }) => key)];
  return keys.map((key) => {
    const claim = tree.claim(key);
    return { name, root, key, claim, proof: tree.prove(key), what: claim ? 'a leaf' : 'absence' };
  });
});

describe.each(SUBJECTS)('the proof of $what in $name', ({ root, key, claim, proof }) => {
  const count = proof[0]! * 256 + proof[1]!;
  const bitmap = 2 + 40 * count;

  it('verifies, but not with any bit of it flipped', () => {
    expect(verifySumProof(root, key, claim, proof)).toBe(true);
    for (const bit of bitsOf(proof)) {
      expect(verifySumProof(root, key, claim, flipped(proof, bit)), `bit ${bit}`).toBe(false);
    }
  });

  it('verifies for no root that differs in a bit', () => {
    const hash = bytes(root.hash);
    for (const bit of bitsOf(hash)) {
      const other = { ...root, hash: hex(flipped(hash, bit)) };
      expect(verifySumProof(other, key, claim, proof)).toBe(false);
    }
    for (const bit of bitsOfSum) {
      expect(verifySumProof({ ...root, sum: root.sum ^ bit }, key, claim, proof)).toBe(false);
    }
  });

  it('verifies no claim that differs in a bit', () => {
    if (claim === null) {
      for (const sum of [1n, 2n ** 64n - 1n, root.sum]) {
        const value = new Uint8Array();
        expect(verifySumProof(root, key, { value, sum }, proof)).toBe(false);
      }
      return;
    }
    const { value, sum } = claim;
    // Two absent keys may have the same siblings; two leaves never do.
    for (const bit of bitsOf(key)) {
      expect(verifySumProof(root, flipped(key, bit), claim, proof)).toBe(false);
    }
    for (const bit of bitsOf(value)) {
      const other = { value: flipped(value, bit), sum };
      expect(verifySumProof(root, key, other, proof)).toBe(false);
    }
    for (const bit of bitsOfSum) {
      expect(verifySumProof(root, key, { value, sum: sum ^ bit }, proof)).toBe(false);
    }
    expect(verifySumProof(root, key, null, proof)).toBe(false);
    const longer = Uint8Array.of(...value, 0);
    expect(verifySumProof(root, key, { value: longer, sum }, proof)).toBe(false);
    if (value.length > 0) {
      const other = { value: value.slice(1), sum };
      expect(verifySumProof(root, key, other, proof)).toBe(false);
    }
  });

  it('does not verify cut off, longer, or as another kind of proof', () => {
    for (let end = 0; end < proof.length; end++) {
      expect(verifySumProof(root, key, claim, proof.subarray(0, end))).toBe(false);
    }
    for (const more of [[0], [1], [0xff], Array<number>(40).fill(0)]) {
      expect(verifySumProof(root, key, claim, Uint8Array.of(...proof, ...more))).toBe(false);
    }
    expect(verifySumProofs(root, [[key, claim]], proof)).toBe(false);
    const many = Uint8Array.of(0, 0, ...proof);
    expect(verifySumProofs(root, [[key, claim]], many)).toBe(true);
    expect(verifySumProof(root, key, claim, many)).toBe(false);
  });

  it('has neither superfluous nor missing siblings', () => {
    for (const at of [0, count]) {
      const node = at === 0 ? EMPTY[256]!.hash : EMPTY[0]!.hash;
      const spare = Uint8Array.of(...node, 0, 0, 0, 0, 0, 0, 0, 5);
      const [from, to] = [proof.slice(0, 2 + 40 * at), proof.subarray(2 + 40 * at)];
      const longer = Uint8Array.of(...from, ...spare, ...to);
      new DataView(longer.buffer).setUint16(0, count + 1);
      expect(verifySumProof(root, key, claim, longer)).toBe(false);
      const many = Uint8Array.of(0, 0, ...longer);
      expect(verifySumProofs(root, [[key, claim]], many)).toBe(false);
    }
    if (count === 0) return;
    const shorter = without(proof, bitmap - 40, bitmap);
    new DataView(shorter.buffer).setUint16(0, count - 1);
    expect(verifySumProof(root, key, claim, shorter)).toBe(false);
  });

  it('has no empty sibling in full', () => {
    let fullCount = 0;
    for (let bit = 0; bit < 256; bit++) {
      if (((proof[bitmap + (bit >> 3)]! >> (bit & 7)) & 1) === 0) {
        fullCount += 1;
        continue;
      }
      // The same siblings, but an empty one with its hash and the sum 0.
      const at = 2 + 40 * fullCount;
      const node = [...EMPTY[256 - bit]!.hash, 0, 0, 0, 0, 0, 0, 0, 0];
      const longer = Uint8Array.of(...proof.subarray(0, at), ...node, ...proof.subarray(at));
      new DataView(longer.buffer).setUint16(0, count + 1);
      const other = flipped(longer, 8 * (bitmap + 40) + bit);
      expect(verifySumProof(root, key, claim, other)).toBe(false);
    }
    expect(fullCount).toBe(count);
  });
});

describe.each(MANY)('proofs of many keys: $name', ({ root, leaves, proofs }) => {
  const tree = new ReferenceTree(leaves);
  const all = proofs.map(({ keys, proof }) => ({
    claims: keys.map((key): [Uint8Array, Leaf | null] => [key, tree.claim(key)]),
    proof,
  }));

  it('do not verify cut off or longer', () => {
    for (const { claims, proof } of all) {
      const ends = Math.min(proof.length, 100 + Math.ceil(2000 / (1 + claims.length)));
      for (let at = 0; at < ends; at++) {
        const end = Math.floor((at * proof.length) / ends);
        expect(verifySumProofs(root, claims, proof.subarray(0, end))).toBe(false);
      }
      expect(verifySumProofs(root, claims, Uint8Array.of(...proof, 0))).toBe(false);
    }
  });

  it('do not verify with a bit flipped, even in the padding', () => {
    const from = random(5);
    for (const { claims, proof } of all) {
      const last = 8 * (proof.length - 1);
      const some = Array.from({ length: 60 + Math.ceil(3000 / (1 + claims.length)) }, () =>
        from.below(8 * proof.length),
      );
      const bits =
        proof.length < 80
          ? bitsOf(proof)
          : [...some, ...bitsOf(proof.slice(-1)).map((bit) => last + bit)];
      for (const bit of bits) {
        expect(verifySumProofs(root, claims, flipped(proof, bit)), `bit ${bit}`).toBe(false);
      }
    }
  });

  it('do not verify other sums, even those that add up to the same', () => {
    for (const { claims, proof } of all) {
      const present = claims.flatMap(([, claim], at) => (claim === null ? [] : [at]));
      for (const [nth, at] of present.entries()) {
        const [key, claim] = claims[at]!;
        const more = claims.with(at, [key, { ...claim!, sum: claim!.sum + 1n }]);
        expect(verifySumProofs(root, more, proof)).toBe(false);
        const to = present[nth + 1];
        if (to === undefined) continue;
        const [otherKey, other] = claims[to]!;
        const moved = more.with(to, [otherKey, { ...other!, sum: other!.sum - 1n }]);
        expect(verifySumProofs(root, moved, proof)).toBe(false);
        const swapped = claims.with(at, [key, other]).with(to, [otherKey, claim]);
        const isSame = hex(claim!.value) === hex(other!.value) && claim!.sum === other!.sum;
        expect(verifySumProofs(root, swapped, proof)).toBe(isSame);
      }
    }
  });
});

/** Enough for about 18 proofs for each of the 1,110 ways to make up to three changes. */
const PROOFS = Number(process.env.PROOFS ?? 20_000);

describe('forged proofs', () => {
  const tree = forest(random(1), 200);
  const keys: Uint8Array[] = [...tree.leaves.keys()].map(bytes);
  const from = random(2);
  for (let at = 0; at < 200; at++) keys.push(from.bytes(32));
  const honest = keys.map(
    (key): Proved => ({ key, claim: tree.claim(key), proof: tree.prove(key) }),
  );
  const single = new Map(honest.map(({ key, proof }) => [hex(key), proof]));

  function forest(from: Random, count: number): ReferenceTree {
    const leaf = (): [string, Leaf] => [
      hex(from.bytes(32)),
      { value: from.bytes(from.below(40)), sum: BigInt(1 + from.below(2 ** 20)) },
    ];
    return new ReferenceTree(Array.from({ length: count }, leaf));
  }

  /** Changes a claim and its proof once; the result may be true. */
  function change(forged: Proved): Proved {
    const { key, claim, proof } = forged;
    const other = from.pick(honest);
    const place = from.below(proof.length);
    switch (from.below(10)) {
      case 0:
        return { ...forged, proof: proof.slice(0, Math.max(place, 1)) };
      case 1:
        return { ...forged, proof: without(proof, place, place + 1 + from.below(40)) };
      case 2:
        return { ...forged, proof: other.proof };
      case 3:
        return { ...forged, key: other.key };
      case 4:
        return { ...forged, claim: other.claim };
      case 5: {
        const sum = claim && claim.sum ^ (1n << BigInt(from.below(64)));
        return { ...forged, claim: claim && { ...claim, sum: sum! } };
      }
      case 6:
        return { ...forged, key: flipped(key, from.below(256)) };
      case 7: {
        // Replace one of its nodes by another, or by one of another proof.
        const nodes = Math.floor((other.proof.length - 34) / 40);
        const count = Math.floor((proof.length - 34) / 40);
        if (nodes < 1 || count < 1) return forged;
        const at = 2 + 40 * from.below(nodes);
        const moved = proof.slice();
        moved.set(other.proof.subarray(at, at + 40), 2 + 40 * from.below(count));
        return { ...forged, proof: moved };
      }
      case 8:
        return { ...forged, proof: flipped(proof, 8 * place + from.below(8)) };
      default: {
        // Flip two bits of the bitmap, so that the count may still be right.
        const bitmap = 8 * (proof.length - 32);
        if (bitmap < 0) return forged;
        const once = flipped(proof, bitmap + from.below(256));
        return { ...forged, proof: flipped(once, bitmap + from.below(256)) };
      }
    }
  }

  it(`are refused, ${PROOFS} of them, except for those that are true`, () => {
    let [refused, truths] = [0, 0];
    while (refused < PROOFS) {
      let forged = from.pick(honest);
      for (let changes = 1 + from.below(3); changes > 0; changes--) forged = change(forged);
      const { key, claim, proof } = forged;
      if (!verifySumProof(tree.root, key, claim, proof)) {
        refused += 1;
        continue;
      }
      // Another absent key may have the same siblings, byte for byte.
      const which = `forged proof ${refused}, of key ${hex(key)}, accepted`;
      expect(claim, which).toEqual(tree.claim(key));
      expect(proof, which).toEqual(single.get(hex(key)) ?? tree.prove(key));
      truths += 1;
    }
    expect(truths).toBeLessThan(refused / 5);
  });

  it('are refused when they are random bytes', () => {
    for (let at = 0; at < 20_000; at++) {
      const { key, claim } = from.pick(honest);
      const count = from.below(6);
      const noise = from.bytes(from.below(2) === 0 ? from.below(400) : 34 + 40 * count);
      if (noise.length > 1) noise.set([0, count]);
      expect(verifySumProof(tree.root, key, claim, noise)).toBe(false);
      expect(verifySumProofs(tree.root, [[key, claim]], noise)).toBe(false);
    }
  });
});
