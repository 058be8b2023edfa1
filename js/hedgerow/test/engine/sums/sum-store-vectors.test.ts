/** The vectors of taproot-assets, and the proofs of random trees, through `db.sumTree`. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  type SumLeaf,
  verifySumProof,
  verifySumProofs,
} from '../../../src/core/sum-proof/index.js';
import type { SumTree } from '../../../src/engine/sums/sum-tree.js';
import { memory, open } from '../../../src/index.js';
import { failure } from '../../support/models/store-model.js';
import {
  bytes,
  hex,
  type Leaf,
  ReferenceTree,
  sha256,
} from '../../support/models/sum-reference.js';
import { forSeeds } from '../../support/property.js';

interface Told {
  readonly key: string;
  readonly node: { readonly value: string; readonly sum: string };
}

interface Vector {
  readonly all_tree_leaves: readonly Told[];
  readonly valid_test_cases: readonly {
    readonly comment?: string;
    readonly root_hash: string;
    readonly root_sum: string;
    readonly inserted_leaves: readonly string[] | null;
    readonly deleted_leaves: readonly string[] | null;
    readonly replaced_leaves?: readonly Told[] | null;
    readonly inclusion_proofs: readonly { proof_key: string; compressed_proof: string }[] | null;
    readonly exclusion_proofs: readonly { proof_key: string; compressed_proof: string }[] | null;
  }[];
  readonly error_test_cases?: readonly { inserted_leaves: readonly string[]; error: string }[];
}

const NAMES = [
  'mssmt_tree_deletion',
  'mssmt_tree_replacement',
  'mssmt_tree_error_cases',
  'mssmt_proofs_100',
  'mssmt_proofs_structured',
];

const VECTORS = NAMES.map((name): [string, Vector] => {
  const file = new URL(`../../../../../vectors/mssmt/${name}.json`, import.meta.url);
  return [name, JSON.parse(readFileSync(file, 'utf8'))];
});

const itemOf = ({ key, node }: Told) => ({
  key: bytes(key),
  value: bytes(node.value),
  sum: BigInt(node.sum),
});

/** Puts either all leaves in one commit, or each in its own. */
const WAYS = { 'in one commit': 0, 'one by one': 1 } as const;

async function putIn(tree: SumTree, told: readonly Told[], one: number): Promise<void> {
  if (one === 0) await tree.putMany(told.map(itemOf));
  else for (const each of told) await tree.put(bytes(each.key), itemOf(each));
}

async function deleteIn(tree: SumTree, keys: readonly string[], one: number): Promise<void> {
  if (one === 0) await tree.deleteMany(keys.map(bytes));
  else for (const key of keys) await tree.delete(bytes(key));
}

/** Checks that the proofs of all keys equal the proofs of the reference, alone and together. */
async function expectProved(
  tree: SumTree,
  leaves: ReadonlyMap<string, Leaf>,
  keys: readonly Uint8Array[],
): Promise<void> {
  const reference = new ReferenceTree(leaves);
  expect(tree.root).toEqual(reference.root);
  const found = await tree.getMany(keys);
  const claims = keys.map((key, at): [Uint8Array, SumLeaf | null] => [key, found[at] ?? null]);
  for (const [key, claim] of claims) {
    const expected = reference.claim(key);
    expect(claim === null ? null : { value: claim.value, sum: claim.sum }).toEqual(expected);
    const proof = await tree.prove(key);
    expect(proof).toEqual(reference.prove(key));
    expect(verifySumProof(tree.root, key, claim, proof)).toBe(true);
    const opposite = claim === null ? { value: Uint8Array.of(1), sum: 1n } : null;
    expect(verifySumProof(tree.root, key, opposite, proof)).toBe(false);
  }
  const many = await tree.proveMany(keys);
  expect(many).toEqual(reference.proveMany(keys));
  expect(verifySumProofs(tree.root, claims, many)).toBe(true);
  expect(verifySumProofs(tree.root, claims.slice(1), many)).toBe(keys.length === 0);
}

describe.each(VECTORS)('%s', (_, vector) => {
  const named = new Map(vector.all_tree_leaves.map((told) => [told.key, told]));

  it.each(Object.entries(WAYS))('has its roots and proofs, %s', async (_, one) => {
    for (const [at, given] of vector.valid_test_cases.entries()) {
      const db = await open(`vector ${at}`, { storage: memory() });
      const tree = db.sumTree('t');
      const inserted = (given.inserted_leaves ?? []).map((key) => named.get(key)!);
      await putIn(tree, inserted, one);
      await deleteIn(tree, given.deleted_leaves ?? [], one);
      await putIn(tree, given.replaced_leaves ?? [], one);
      expect(tree.root).toEqual({ hash: given.root_hash, sum: BigInt(given.root_sum) });

      const leaves = new Map<string, Leaf>();
      for (const told of inserted) leaves.set(told.key, itemOf(told));
      for (const key of given.deleted_leaves ?? []) leaves.delete(key);
      for (const told of given.replaced_leaves ?? []) leaves.set(told.key, itemOf(told));
      for (const [key, { value, sum }] of leaves) leaves.set(key, { value, sum });
      const listed = [...(given.inclusion_proofs ?? []), ...(given.exclusion_proofs ?? [])];
      for (const { proof_key, compressed_proof } of listed) {
        expect(hex(await tree.prove(bytes(proof_key)))).toBe(compressed_proof);
      }
      const beside = [...leaves.keys()].slice(0, 5).map((key) => sha256(key));
      const keys = [...leaves.keys()].slice(0, 30).map(bytes);
      await expectProved(tree, leaves, [...keys, ...beside]);

      // The root equals the root of the remaining leaves alone, after any deletions and replacements.
      const fresh = await open('fresh', { storage: memory() });
      const items = [...leaves].map(([key, leaf]) => ({ ...leaf, key: bytes(key) }));
      await fresh.sumTree('t').putMany(items);
      expect(fresh.root).toBe(db.root);
      await Promise.all([fresh.close(), db.close()]);
    }
  });
});

describe.each(VECTORS.filter(([, { error_test_cases: cases }]) => (cases ?? []).length > 0))(
  'the errors of %s',
  (_, vector) => {
    const named = new Map(vector.all_tree_leaves.map((told) => [told.key, told]));

    it.each(Object.entries(WAYS))('do not change the tree, %s', async (_, one) => {
      for (const { inserted_leaves, error } of vector.error_test_cases ?? []) {
        expect(error).toBe('integer overflow');
        const db = await open('errors', { storage: memory() });
        const tree = db.sumTree('t');
        const told = inserted_leaves.map((key) => named.get(key)!);
        const puts = one === 0 ? [told] : told.map((each) => [each]);
        for (const part of puts.slice(0, -1)) await putIn(tree, part, 0);
        const before = [db.root, tree.root];
        await expect(putIn(tree, puts.at(-1)!, 0)).rejects.toEqual(
          failure('invalid-argument/sum-overflow'),
        );
        expect([db.root, tree.root]).toEqual(before);
        await db.close();
      }
    });
  },
);

it('every key of random trees has the right proof, present or absent', async () => {
  await forSeeds(3, async (from, seed, begin) => {
    const storage = memory();
    const db = await open('random', { storage });
    const leaves = new Map<string, Leaf>();
    // They include keys that differ in only one bit.
    const base = sha256(`${seed}`);
    const key = () => {
      const near = Uint8Array.from(base);
      const bit = from.below(256);
      near[bit >> 3]! ^= 1 << (bit & 7);
      return from.below(3) === 0 ? near : Uint8Array.from(sha256(from.text(9)));
    };
    for (let round = 0; round < 4; round++) {
      const puts = Array.from({ length: 1 + from.below(60) }, () => ({
        key: key(),
        value: from.bytes(from.below(80)),
        sum: BigInt(from.below(1e9)),
      }));
      begin({ putMany: puts.length });
      await db.sumTree('t').putMany(puts);
      for (const { key, value, sum } of puts) {
        if (value.length === 0 && sum === 0n) leaves.delete(hex(key));
        else leaves.set(hex(key), { value, sum });
      }
      const gone = from.shuffle([...leaves.keys()]).slice(0, from.below(15));
      await db.sumTree('t').deleteMany(gone.map(bytes));
      for (const one of gone) leaves.delete(one);
    }
    // Another handle has an empty cache, and reads from storage.
    const cold = await open('random', { storage, advanced: { cacheBytes: 0 } });
    const absent = Array.from({ length: 30 }, key).filter((one) => !leaves.has(hex(one)));
    const keys = [...leaves.keys()].map(bytes);
    const all = new Map([...keys, ...absent].map((one) => [hex(one), one]));
    await expectProved(cold.sumTree('t'), leaves, [...all.values()]);
    const none = cold.sumTree('t').proveMany([]);
    await expect(none).rejects.toEqual(failure('invalid-argument'));
    await Promise.all([db.close(), cold.close()]);
  });
});

it('texts have the same keys in a store and in a proof', async () => {
  const db = await open('texts', { storage: memory() });
  const tree = db.sumTree('t');
  const texts = ['', 'a', 'ä', '😀', 'x'.repeat(3000)];
  await tree.putMany(texts.map((key) => ({ key, value: new Uint8Array(), sum: 1n })));
  for (const key of texts) {
    const claim = await tree.get(key);
    expect(claim?.key).toEqual(Uint8Array.from(sha256(key)));
    expect(verifySumProof(tree.root, key, claim ?? null, await tree.prove(key))).toBe(true);
  }
  const claims = [...texts, 'none'].map((key) => [key, key === 'none' ? null : leaf] as const);
  const proof = await tree.proveMany(claims.map(([key]) => key));
  expect(verifySumProofs(tree.root, claims, proof)).toBe(true);
  await db.close();
});

const leaf = { value: new Uint8Array(), sum: 1n };
