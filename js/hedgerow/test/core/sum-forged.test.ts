/** Changed and forged proofs of sums do not verify. */
import { describe, expect, it } from 'vitest';
import { verifySumProof, verifySumProofs } from '../../src/core/sum-proof/index.js';
import { flipped, forCuts, forFlips } from '../support/damaged-bytes.js';
import { bytes, EMPTY, hex, type Leaf, ReferenceTree } from '../support/models/sum-reference.js';
import { below, forSampled, forSeeds, hasAllSeeds } from '../support/property.js';
import { type Random, random } from '../support/random.js';
import { CASES, MANY } from '../support/vectors/sum-vectors.js';

function without(of: Uint8Array, from: number, to: number): Uint8Array {
  return Uint8Array.of(...of.subarray(0, from), ...of.subarray(to));
}

/** A claim and its alleged proof. */
interface Proved {
  readonly key: Uint8Array;
  readonly claim: Leaf | null;
  readonly proof: Uint8Array;
}

const bitsOfSum = below(64).map((bit) => 1n << BigInt(bit));

// A leaf alone, a leaf among a hundred, a leaf whose neighbour differs in its last bits; and absent leaves.
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

  it('verifies, and fails with any bit of it flipped', async () => {
    expect(verifySumProof(root, key, claim, proof)).toBe(true);
    await forFlips(proof, (other) => expect(verifySumProof(root, key, claim, other)).toBe(false));
  });

  it('fails for every root that differs in a bit', async () => {
    await forFlips(bytes(root.hash), (hash) => {
      expect(verifySumProof({ ...root, hash: hex(hash) }, key, claim, proof)).toBe(false);
    });
    await forSampled(bitsOfSum, (bit) => {
      expect(verifySumProof({ ...root, sum: root.sum ^ bit }, key, claim, proof)).toBe(false);
    });
  });

  it('fails for every claim that differs in a bit', async () => {
    if (claim === null) {
      for (const sum of [1n, 2n ** 64n - 1n, root.sum]) {
        const value = new Uint8Array();
        expect(verifySumProof(root, key, { value, sum }, proof)).toBe(false);
      }
      return;
    }
    const { value, sum } = claim;
    // Two absent keys may have the same siblings; two leaves never have.
    await forFlips(key, (other) => expect(verifySumProof(root, other, claim, proof)).toBe(false));
    await forFlips(value, (other) => {
      expect(verifySumProof(root, key, { value: other, sum }, proof)).toBe(false);
    });
    await forSampled(bitsOfSum, (bit) => {
      expect(verifySumProof(root, key, { value, sum: sum ^ bit }, proof)).toBe(false);
    });
    expect(verifySumProof(root, key, null, proof)).toBe(false);
    const longer = Uint8Array.of(...value, 0);
    expect(verifySumProof(root, key, { value: longer, sum }, proof)).toBe(false);
    if (value.length > 0) {
      const other = { value: value.slice(1), sum };
      expect(verifySumProof(root, key, other, proof)).toBe(false);
    }
  });

  it('fails cut off, longer, or as another kind of proof', async () => {
    await forCuts(proof, (cut) => expect(verifySumProof(root, key, claim, cut)).toBe(false));
    for (const more of [[0], [1], [0xff], Array<number>(40).fill(0)]) {
      expect(verifySumProof(root, key, claim, Uint8Array.of(...proof, ...more))).toBe(false);
    }
    expect(verifySumProofs(root, [[key, claim]], proof)).toBe(false);
    const many = Uint8Array.of(0, 0, ...proof);
    expect(verifySumProofs(root, [[key, claim]], many)).toBe(true);
    expect(verifySumProof(root, key, claim, many)).toBe(false);
  });

  it('has no superfluous and no missing siblings', () => {
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

  it('contains no empty sibling in full', () => {
    let fullCount = 0;
    for (let bit = 0; bit < 256; bit++) {
      if (((proof[bitmap + (bit >> 3)]! >> (bit & 7)) & 1) === 0) {
        fullCount += 1;
        continue;
      }
      // The same siblings, but an empty sibling has its hash and the sum 0.
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

  it('fail cut off or longer', async () => {
    for (const { claims, proof } of all) {
      const ends = Math.min(proof.length, 100 + Math.ceil(2000 / (1 + claims.length)));
      await forSampled(below(ends), (at) => {
        const end = Math.floor((at * proof.length) / ends);
        expect(verifySumProofs(root, claims, proof.subarray(0, end))).toBe(false);
      });
      expect(verifySumProofs(root, claims, Uint8Array.of(...proof, 0))).toBe(false);
    }
  });

  it('fail with a bit flipped, even in the padding', async () => {
    const from = random(5);
    for (const { claims, proof } of all) {
      const last = 8 * (proof.length - 1);
      const some = Array.from({ length: 60 + Math.ceil(3000 / (1 + claims.length)) }, () =>
        from.below(8 * proof.length),
      );
      const bits =
        proof.length < 80
          ? below(8 * proof.length)
          : [...some, ...below(8).map((bit) => last + bit)];
      await forSampled(bits, (bit) => {
        expect(verifySumProofs(root, claims, flipped(proof, bit))).toBe(false);
      });
    }
  });

  it('fail for other sums, even for sums with the same total', () => {
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

/** About 18 proofs for each of the 1,110 ways to make up to three changes, with each seed. */
const PROOFS = 500;
const SEEDS = 40;

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
  function change(from: Random, forged: Proved): Proved {
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
        // Replace one node of it by another node, or by a node of another proof.
        const nodes = Math.floor((other.proof.length - 34) / 40);
        const count = Math.floor((proof.length - 34) / 40);
        if (nodes < 1 || count < 1) return forged;
        const at = 2 + 40 * from.below(nodes);
        const moved = proof.slice();
        moved.set(other.proof.subarray(at, at + 40), 2 + 40 * from.below(count));
        return { ...forged, proof: moved };
      }
      case 8:
        if (proof.length === 0) return forged;
        return { ...forged, proof: flipped(proof, 8 * place + from.below(8)) };
      default: {
        // Flip two bits of the bitmap, which may keep the count right.
        const bitmap = 8 * (proof.length - 32);
        if (bitmap < 0) return forged;
        const once = flipped(proof, bitmap + from.below(256));
        return { ...forged, proof: flipped(once, bitmap + from.below(256)) };
      }
    }
  }

  it('are refused, except when the claim is true', async () => {
    let [refused, truths] = [0, 0];
    await forSeeds(SEEDS, async (from, _, begin) => {
      for (let left = PROOFS; left > 0; ) {
        let forged = from.pick(honest);
        for (let changes = 1 + from.below(3); changes > 0; changes--) {
          forged = change(from, forged);
        }
        const { key, claim, proof } = forged;
        if (!verifySumProof(tree.root, key, claim, proof)) {
          refused += 1;
          left -= 1;
          continue;
        }
        begin({ acceptedOf: hex(key) });
        // Another absent key may have the same siblings, byte for byte.
        expect(claim).toEqual(tree.claim(key));
        expect(proof).toEqual(single.get(hex(key)) ?? tree.prove(key));
        truths += 1;
      }
    });
    if (hasAllSeeds(SEEDS)) expect(truths).toBeLessThan(refused / 5);
  });

  it('of random bytes are refused', async () => {
    await forSeeds(SEEDS, async (from) => {
      for (let left = PROOFS; left > 0; left--) {
        const { key, claim } = from.pick(honest);
        const count = from.below(6);
        const noise = from.bytes(from.below(2) === 0 ? from.below(400) : 34 + 40 * count);
        if (noise.length > 1) noise.set([0, count]);
        expect(verifySumProof(tree.root, key, claim, noise)).toBe(false);
        expect(verifySumProofs(tree.root, [[key, claim]], noise)).toBe(false);
      }
    });
  });
});
