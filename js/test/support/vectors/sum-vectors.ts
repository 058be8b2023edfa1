/** The test vectors of sum trees, as trees and claims. */
import { readFileSync } from 'node:fs';
import { bytes, type Leaf } from '../models/sum-reference.js';

interface Told {
  key: string;
  node: { value: string; sum: string };
}

interface Proved {
  proof_key: string;
  compressed_proof: string;
}

interface Case {
  root_hash: string;
  root_sum: string;
  inserted_leaves: string[] | null;
  deleted_leaves: string[] | null;
  replaced_leaves?: Told[] | null;
  inclusion_proofs: Proved[] | null;
  exclusion_proofs: Proved[] | null;
}

interface ManyTree {
  root_hash: string;
  root_sum: string;
  proofs: { keys: string[]; proof: string }[];
}

function read(name: string) {
  const file = new URL(`../../../../vectors/mssmt/${name}.json`, import.meta.url);
  return JSON.parse(readFileSync(file, 'utf8'));
}

const leafOf = ({ value, sum }: { value: string; sum: string }): Leaf => ({
  value: bytes(value),
  sum: BigInt(sum),
});

const rootOf = (told: { root_hash: string; root_sum: string }) => ({
  hash: told.root_hash,
  sum: BigInt(told.root_sum),
});

/** Empty hashes in hexadecimal, by depth. */
export const EMPTY_HASHES: Record<string, string> = read('empty_tree_hashes');

/** The cases of taproot-assets: the final leaves of the tree, its root and its proofs. */
export const CASES = [
  'mssmt_tree_deletion',
  'mssmt_tree_replacement',
  'mssmt_tree_error_cases',
  'mssmt_proofs_100',
  'mssmt_proofs_structured',
].flatMap((name) => {
  const vector: { all_tree_leaves: Told[]; valid_test_cases: Case[] } = read(name);
  const named = new Map(vector.all_tree_leaves.map(({ key, node }) => [key, leafOf(node)]));
  return vector.valid_test_cases.map((one) => {
    const leaves = new Map((one.inserted_leaves ?? []).map((key) => [key, named.get(key)!]));
    for (const key of one.deleted_leaves ?? []) leaves.delete(key);
    for (const { key, node } of one.replaced_leaves ?? []) leaves.set(key, leafOf(node));
    const proofs = [...(one.inclusion_proofs ?? []), ...(one.exclusion_proofs ?? [])];
    return {
      name,
      root: rootOf(one),
      leaves,
      proofs: proofs.map(({ proof_key, compressed_proof }) => ({
        key: bytes(proof_key),
        claim: leaves.get(proof_key) ?? null,
        proof: bytes(compressed_proof),
      })),
      included: one.inclusion_proofs?.length ?? 0,
    };
  });
});

const many: {
  trees: (ManyTree & { name: string; leaves: { key: string; value: string; sum: string }[] })[];
  thousand: ManyTree;
} = read('many');

const proofsOf = ({ proofs }: ManyTree) =>
  proofs.map(({ keys, proof }) => ({ keys: keys.map(bytes), proof: bytes(proof) }));

/** Trees with proofs of many keys that the core made. */
export const MANY = many.trees.map((tree) => ({
  name: tree.name,
  root: rootOf(tree),
  leaves: new Map(tree.leaves.map(({ key, ...leaf }) => [key, leafOf(leaf)])),
  proofs: proofsOf(tree),
}));

/** The same for a tree of the leaves 0 to 999, which a rule generates. */
export const THOUSAND = { root: rootOf(many.thousand), proofs: proofsOf(many.thousand) };
