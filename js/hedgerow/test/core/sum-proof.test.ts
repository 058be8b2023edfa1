/** Only true claims verify by proofs of sums. `sum-forged.test.ts` has changed and forged proofs. */
import { describe, expect, it } from 'vitest';
import { sumKey, verifySumProof, verifySumProofs } from '../../src/core/sum-proof/index.js';
import { emptyHashes } from '../../src/core/sum-proof/node-hash.js';
import { ofKind } from '../support/error-kind.js';
import { bytes, hex, type Leaf, ReferenceTree, sha256 } from '../support/models/sum-reference.js';
import { CASES, EMPTY_HASHES, MANY, THOUSAND } from '../support/vectors/sum-vectors.js';

const utf8 = (text: string) => new TextEncoder().encode(text);

function flipped(of: Uint8Array, bit: number): Uint8Array {
  const other = of.slice();
  other[bit >> 3]! ^= 1 << (bit & 7);
  return other;
}

const claimsOf = (tree: ReferenceTree, keys: readonly Uint8Array[]) =>
  keys.map((key) => [key, tree.claim(key)] as const);

/** Checks the proofs of all leaves of a tree, and of absent keys near them. */
function expectAllProved(tree: ReferenceTree, absentCount: number): void {
  const keys = [...tree.leaves.keys()].map(bytes);
  const others = keys.slice(0, absentCount).map((key, at) => flipped(key, (at * 37) % 256));
  for (const key of [...keys, ...others, sha256('absent')]) {
    const [claim, proof] = [tree.claim(key), tree.prove(key)];
    expect(verifySumProof(tree.root, key, claim, proof)).toBe(true);
    const opposite = claim === null ? { value: utf8('x'), sum: 1n } : null;
    expect(verifySumProof(tree.root, key, opposite, proof)).toBe(false);
  }
}

describe('the vectors of taproot-assets', () => {
  it('have the hashes of empty subtrees', () => {
    expect(emptyHashes().map(hex)).toEqual(
      Array.from({ length: 257 }, (_, depth) => EMPTY_HASHES[depth]),
    );
  });

  it.each(CASES)('$name: the listed claims verify, and so do all other true claims', (vector) => {
    for (const [at, { key, claim, proof }] of vector.proofs.entries()) {
      expect(claim !== null).toBe(at < vector.included);
      expect(verifySumProof(vector.root, key, claim, proof)).toBe(true);
      const opposite = claim === null ? { value: utf8('x'), sum: 1n } : null;
      expect(verifySumProof(vector.root, key, opposite, proof)).toBe(false);
    }
    const tree = new ReferenceTree(vector.leaves);
    expect(tree.root).toEqual(vector.root);
    for (const { key, proof } of vector.proofs) expect(tree.prove(key)).toEqual(proof);
    expectAllProved(tree, 30);
  });

  it('list proofs of both kinds', () => {
    const proofs = CASES.flatMap((vector) => vector.proofs);
    expect(proofs.filter(({ claim }) => claim !== null).length).toBe(25);
    expect(proofs.filter(({ claim }) => claim === null).length).toBe(7);
  });
});

describe('proofs of many keys that the core made', () => {
  it.each(MANY)('$name', ({ root, leaves, proofs }) => {
    const tree = new ReferenceTree(leaves);
    expect(tree.root).toEqual(root);
    for (const { keys, proof } of proofs) {
      const claims = claimsOf(tree, keys);
      expect(tree.proveMany(keys)).toEqual(proof);
      // An empty list of claims does not verify.
      expect(verifySumProofs(root, claims, proof)).toBe(keys.length > 0);
      expect(verifySumProofs(root, claims.toReversed(), proof)).toBe(keys.length > 0);
      if (keys.length === 0) continue;
      // No claim may be missing, changed or repeated.
      expect(verifySumProofs(root, claims.slice(1), proof)).toBe(false);
      expect(verifySumProofs(root, [...claims, claims[0]!], proof)).toBe(false);
      for (const [at, [key, claim]] of claims.entries()) {
        const other = claim === null ? { value: utf8('x'), sum: 1n } : null;
        expect(verifySumProofs(root, claims.with(at, [key, other]), proof)).toBe(false);
      }
      if (keys.length > 1) {
        const apart = keys.reduce((sum, key) => sum + tree.prove(key).length, 0);
        expect(proof.length).toBeLessThan(apart);
      } else {
        expect(proof.slice(4)).toEqual(tree.prove(keys[0]!).slice(2));
      }
    }
    expectAllProved(tree, 10);
  });

  it('are at least as many as the core made', () => {
    expect(MANY.flatMap(({ proofs }) => proofs).length).toBe(19);
  });
});

describe('a thousand leaves', () => {
  const leaves = Array.from({ length: 1000 }, (_, at): [string, Leaf] => [
    hex(sha256(`leaf ${at}`)),
    { value: utf8(`${at}`), sum: BigInt(at * at) },
  ]);
  const tree = new ReferenceTree(leaves);

  it('all have proofs, and so do absent keys near them', () => {
    expect(tree.root).toEqual(THOUSAND.root);
    expectAllProved(tree, 200);
  });

  it('are proved by their names', () => {
    for (const at of [0, 7, 999, 1000]) {
      const claim = tree.claim(sumKey(`leaf ${at}`));
      expect(claim === null).toBe(at === 1000);
      const proof = tree.prove(sumKey(`leaf ${at}`));
      expect(verifySumProof(tree.root, `leaf ${at}`, claim, proof)).toBe(true);
    }
  });

  it('are proved together, in the bytes that the core makes', () => {
    for (const { keys, proof } of THOUSAND.proofs) {
      expect(tree.proveMany(keys)).toEqual(proof);
      expect(verifySumProofs(THOUSAND.root, claimsOf(tree, keys), proof)).toBe(true);
    }
    const keys = leaves.map(([key]) => bytes(key));
    const proof = tree.proveMany(keys);
    expect(verifySumProofs(tree.root, claimsOf(tree, keys), proof)).toBe(true);
  });

  it('may be claimed from an iterator that reuses its memory', () => {
    const { keys, proof } = THOUSAND.proofs[0]!;
    function* claims() {
      const key = new Uint8Array(32);
      for (const from of keys) {
        key.set(from);
        const leaf = tree.claim(from);
        const value = leaf?.value.slice();
        yield [key, leaf && { value: value!, sum: leaf.sum }] as const;
        key.fill(0);
        value?.fill(0);
      }
    }
    expect(verifySumProofs(tree.root, claims(), proof)).toBe(true);
    const named = Array.from({ length: 20 }, (_, at) => `leaf ${990 + at}`);
    const byName = new Map(named.map((name) => [name, tree.claim(sumKey(name))]));
    expect(verifySumProofs(tree.root, byName, proof)).toBe(true);
  });
});

describe('sums', () => {
  const [a, b] = [new Uint8Array(32), flipped(new Uint8Array(32), 77)];
  const max = 2n ** 64n - 1n;

  it.each([
    [1n, max - 1n],
    [0xffff_ffffn, 1n],
    [0xffff_ffff_0000_0000n, 0xffff_ffffn],
    [max, 0n],
    [0n, 0n],
  ])('of 64 bits are added to the last bit: %d and %d', (left, right) => {
    const tree = new ReferenceTree([
      [hex(a), { value: utf8('a'), sum: left }],
      [hex(b), { value: utf8('b'), sum: right }],
    ]);
    expect(tree.root.sum).toBe(left + right);
    expectAllProved(tree, 2);
    expect(verifySumProofs(tree.root, claimsOf(tree, [a, b]), tree.proveMany([a, b]))).toBe(true);
  });

  /** Returns a tree of two leaves with `total` as the sum of the branch above them, right or wrong. */
  function dishonest(left: bigint, right: bigint, total: bigint) {
    const sumBytes = (sum: bigint) => bytes(BigInt.asUintN(64, sum).toString(16).padStart(16, '0'));
    const empty = emptyHashes();
    let [x, y] = [sha256('a', sumBytes(left)), sha256('b', sumBytes(right))];
    for (let depth = 255; depth > 77; depth--) {
      x = sha256(x, empty[depth + 1]!, sumBytes(left));
      y = sha256(y, empty[depth + 1]!, sumBytes(right));
    }
    let node = sha256(x, y, sumBytes(total));
    for (let depth = 76; depth >= 0; depth--) {
      node = sha256(node, empty[depth + 1]!, sumBytes(total));
    }
    const bitmap = flipped(new Uint8Array(32).fill(0xff), 255 - 77);
    const proofWith = (hash: Uint8Array, sum: bigint) =>
      Uint8Array.from(Buffer.concat([Uint8Array.of(0, 1), hash, sumBytes(sum), bitmap]));
    const root = { hash: hex(node), sum: BigInt.asUintN(64, total) };
    const claims = [
      [a, { value: utf8('a'), sum: left }],
      [b, { value: utf8('b'), sum: right }],
    ] as const;
    return { root, claims, sibling: { x, y }, proofWith };
  }

  it('that overflow are refused, even if they wrap around to the sum of the root', () => {
    const wrapped = (left: bigint, right: bigint) => {
      const { root, claims, sibling, proofWith } = dishonest(left, right, left + right);
      const proof = proofWith(sibling.y, right);
      const many = Uint8Array.from([0, 0, ...proof]);
      expect(verifySumProofs(root, [claims[0]], many)).toBe(left + right <= max);
      return verifySumProof(root, ...claims[0], proof);
    };
    expect(wrapped(1n, max - 1n)).toBe(true);
    expect(wrapped(1n, max)).toBe(false);
    expect(wrapped(max, max)).toBe(false);
    expect(wrapped(0xffff_ffffn, 0xffff_ffff_0000_0001n)).toBe(false);
    expect(wrapped(2n ** 63n, 2n ** 63n)).toBe(false);
  });

  it('of a dishonest tree verify one by one, as the rule of the tree says, but not together', () => {
    // 30 and 12 with a total of 30: each proof claims that the sibling has the rest.
    const { root, claims, sibling, proofWith } = dishonest(30n, 12n, 30n);
    expect(verifySumProof(root, ...claims[0], proofWith(sibling.y, 0n))).toBe(true);
    expect(verifySumProof(root, ...claims[1], proofWith(sibling.x, 18n))).toBe(true);
    const keys = claims.map(([key]) => key);
    const both = new ReferenceTree(claims.map(([key, leaf]) => [hex(key), leaf])).proveMany(keys);
    expect(verifySumProofs(root, claims, both)).toBe(false);
    const honest = dishonest(30n, 12n, 42n);
    expect(verifySumProofs(honest.root, honest.claims, both)).toBe(true);
  });

  it('below 0 are refused, even if they add up', () => {
    const { root, claims, sibling, proofWith } = dishonest(-1n, 43n, 42n);
    expect(verifySumProof(root, ...claims[0], proofWith(sibling.y, 43n))).toBe(false);
    expect(verifySumProof(root, ...claims[1], proofWith(sibling.x, -1n))).toBe(false);
  });

  it('outside of 64 bits, and the empty leaf, are claims that never verify', () => {
    const tree = new ReferenceTree([[hex(a), { value: utf8('a'), sum: 5n }]]);
    const [present, absent] = [tree.prove(a), tree.prove(b)];
    for (const sum of [5n + 2n ** 64n, 5n - 2n ** 64n, -1n, 2n ** 64n]) {
      expect(verifySumProof(tree.root, a, { value: utf8('a'), sum }, present)).toBe(false);
    }
    const nothing = { value: new Uint8Array(), sum: 0n };
    expect(verifySumProof(tree.root, b, null, absent)).toBe(true);
    expect(verifySumProof(tree.root, b, nothing, absent)).toBe(false);
    expect(verifySumProofs(tree.root, [[b, nothing]], tree.proveMany([b]))).toBe(false);
    // A sum without a value is a leaf, and a value without a sum is a leaf.
    for (const leaf of [
      { ...nothing, sum: 5n },
      { value: utf8('a'), sum: 0n },
    ]) {
      expectAllProved(new ReferenceTree([[hex(a), leaf]]), 1);
    }
  });
});

describe('malformed arguments', () => {
  const key = sumKey('ann');
  const claim = { value: utf8('a'), sum: 5n };
  const tree = new ReferenceTree([[hex(key), claim]]);
  const { root } = tree;
  const proof = tree.prove(key);

  it.each([
    ['invalid-argument', [{ ...root, hash: 'ab' }, key, claim, proof]],
    ['invalid-argument', [{ ...root, hash: root.hash.toUpperCase() }, key, claim, proof]],
    ['invalid-argument', [{ ...root, hash: key }, key, claim, proof]],
    ['invalid-argument', [{ ...root, sum: 5 }, key, claim, proof]],
    ['invalid-argument', [{ ...root, sum: -1n }, key, claim, proof]],
    ['invalid-argument', [{ ...root, sum: 2n ** 64n }, key, claim, proof]],
    ['invalid-argument', [undefined, key, claim, proof]],
    ['invalid-argument', [root.hash, key, claim, proof]],
    ['invalid-argument', [root, key, undefined, proof]],
    ['invalid-argument', [root, key, 5n, proof]],
    ['invalid-argument', [root, key, { value: 'a', sum: 5n }, proof]],
    ['invalid-argument', [root, key, { value: utf8('a'), sum: 5 }, proof]],
    ['invalid-argument/key', [root, key.slice(1), claim, proof]],
    ['invalid-argument/key', [root, Uint8Array.of(...key, 0), claim, proof]],
    ['invalid-argument/key', [root, [...key], claim, proof]],
    ['invalid-argument/key', [root, undefined, claim, proof]],
    ['invalid-argument/key', [root, '\ud800', claim, proof]],
    ['invalid-data/proof', [root, key, claim, undefined]],
    ['invalid-data/proof', [root, key, claim, hex(proof)]],
    ['invalid-data/proof', [root, key, claim, proof.buffer]],
  ])('throw %s (%#)', (code, [of, under, what, by]) => {
    const single = verifySumProof as (...all: unknown[]) => boolean;
    const many = verifySumProofs as (...all: unknown[]) => boolean;
    expect(single(root, key, claim, proof)).toBe(true);
    expect(() => single(of, under, what, by)).toThrow(expect.objectContaining(ofKind(code)));
    expect(() => many(of, [[under, what]], by)).toThrow(expect.objectContaining(ofKind(code)));
  });

  it('include claims that are not a list of pairs', () => {
    const many = verifySumProofs as (...all: unknown[]) => boolean;
    for (const claims of [undefined, null, {}, 5, 'ab', [null], [5], ['ab']]) {
      const code = 'invalid-argument';
      expect(() => many(root, claims, proof)).toThrow(expect.objectContaining(ofKind(code)));
    }
  });
});

describe('the key of a string', () => {
  it('is SHA-256 of its UTF-8', () => {
    const empty = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
    expect(hex(sumKey(''))).toBe(empty);
    for (const text of ['ann', 'é', 'e\u0301', '\uff5e', '😀', '\0', 'x'.repeat(100_000)]) {
      expect(sumKey(text)).toEqual(Uint8Array.from(sha256(text)));
    }
    expect(sumKey('é')).not.toEqual(sumKey('e\u0301'));
  });

  it.each(['\ud800', 'a\udc00', '\ude00\ud83d', 5, undefined, new Uint8Array(32)])(
    'does not exist for a value without UTF-8 (%#)',
    (text) => {
      const code = 'invalid-argument/key';
      expect(() => sumKey(text as string)).toThrow(expect.objectContaining(ofKind(code)));
    },
  );
});
