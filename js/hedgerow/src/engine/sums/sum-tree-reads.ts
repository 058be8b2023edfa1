/** Reads of sum trees. */

import { checkSignal, untilEnded } from '../../base/abort-signal.js';
import { sameBytes } from '../../base/bytes.js';
import { HedgerowError } from '../../base/errors.js';
import { iterateUntilDropped } from '../../base/finalization-registry.js';
import { checkKeys } from '../../base/key.js';
import { parseRoot } from '../../base/root-hash.js';
import {
  type FoundLeaf,
  type SumTreeCalls,
  sumTreeCalls,
} from '../../core/calls/sum-tree-calls.js';
import type { Op } from '../../core/engine.js';
import type { Host } from '../../core/operation-host.js';
import type { SumScanOptions } from '../../core/sum-tree-options.js';
import type { SumChange, SumKey, SumLeaf } from '../../core/sum-tree-types.js';
import type { HeldHead } from '../history/branch-head.js';
import type { ReadContext } from '../read/context.js';
import { buildMissingSums } from './build-missing-sum-trees.js';
import { packKeys } from './sum-leaf-packer.js';

/** The most bytes of keys in one search or proof. */
const MAX_KEY_BYTES = 16 << 20;

/** Holds the head while a read runs. */
async function* reading<T>(
  from: ReadContext,
  start: (sums: SumTreeCalls, held: HeldHead) => Op,
  take: (sums: SumTreeCalls) => T,
  isFollowed = true,
): AsyncGenerator<T, void, void> {
  from.check();
  if (isFollowed) await buildMissingSums(from);
  const held = await from.holdHead();
  try {
    const sums = await sumTreeCalls(from.host);
    yield* sums.read(from.host, start(sums, held), () => take(sums));
    from.host.engine.noteSuccess();
  } finally {
    held.release();
  }
}

const leavesOf = (sums: SumTreeCalls) => sums.leaves();
const plain = ({ key, value, sum }: FoundLeaf): SumLeaf => ({ key, value, sum });

function checkedKeys(keys: Iterable<SumKey>): { keyBytes: Uint8Array; count: number } {
  const packed = packKeys(checkKeys('a sum tree', keys));
  if (packed.keyBytes.length <= MAX_KEY_BYTES) return packed;
  throw new HedgerowError(
    'invalid-argument',
    `too many keys for one call: they take more than ${MAX_KEY_BYTES} bytes`,
  );
}

/** Returns the leaves of `keys`, in the order of `keys`. */
export async function getMany(
  from: ReadContext,
  name: string,
  keys: Iterable<SumKey>,
): Promise<(SumLeaf | undefined)[]> {
  const { keyBytes, count } = checkedKeys(keys);
  const found = new Array<SumLeaf | undefined>(count).fill(undefined);
  const start = (sums: SumTreeCalls, { head }: HeldHead) => sums.find(head.view, name, keyBytes);
  for await (const leaves of reading(from, start, leavesOf)) {
    for (const leaf of leaves) found[leaf.mark] = plain(leaf);
  }
  return found;
}

/** Returns all leaves, or the leaves from a key on. */
export function entries(
  ...args: Parameters<typeof leavesFrom>
): AsyncIterableIterator<SumLeaf, void> {
  return iterateUntilDropped(() => leavesFrom(...args));
}

async function* leavesFrom(
  from: ReadContext,
  name: string,
  options: SumScanOptions,
): AsyncGenerator<SumLeaf, void, void> {
  const { from: key, signal } = options;
  checkSignal(signal);
  const { keyBytes } = packKeys(key === undefined ? [] : [key]);
  const start = (sums: SumTreeCalls, { head }: HeldHead) => sums.scan(head.view, name, keyBytes);
  for await (const leaves of untilEnded(reading(from, start, leavesOf), signal)) {
    for (const leaf of leaves) yield plain(leaf);
    checkSignal(signal);
  }
}

/** Makes a proof of keys. */
export async function proveSums(
  from: ReadContext,
  name: string,
  keys: Iterable<SumKey>,
  isMany: boolean,
): Promise<Uint8Array> {
  const { keyBytes, count } = checkedKeys(keys);
  if (count === 0) throw new HedgerowError('invalid-argument', 'a proof needs at least one key');
  let proof = new Uint8Array();
  const start = (sums: SumTreeCalls, { head }: HeldHead) =>
    sums.prove(head.view, name, keyBytes, isMany);
  for await (const bytes of reading(from, start, (sums) => sums.bytes())) {
    proof = bytes as Uint8Array<ArrayBuffer>;
  }
  return proof;
}

/** Returns the leaves that differ between the trees of two commits. */
export function diffSums(
  ...args: Parameters<typeof differing>
): AsyncIterableIterator<SumChange, void> {
  return iterateUntilDropped(() => differing(...args));
}

async function* differing(
  from: ReadContext,
  name: string,
  fromRoot: string,
  toRoot?: string,
): AsyncGenerator<SumChange, void, void> {
  from.check();
  const { host, branchHead } = from;
  const views: number[] = [];
  const open = async (root: string) => {
    const { view } = await branchHead.shared.openView(parseRoot(root));
    views.push(view);
    return view;
  };
  const held = await from.holdHead();
  try {
    const before = await open(fromRoot);
    const after = toRoot === undefined ? held.head.view : await open(toRoot);
    const start = (sums: SumTreeCalls) => sums.diff(before, after, name);
    let old: FoundLeaf | undefined;
    for await (const leaves of reading(from, start, leavesOf, false)) {
      for (const [at, leaf] of leaves.entries()) {
        if (leaf.mark === 0) old = leaf;
        const next = leaves[at + 1];
        const isPair = leaf.mark === 0 && next?.mark === 1 && sameBytes(leaf.key, next.key);
        if (isPair) continue;
        const { key } = leaf;
        const before = old === undefined ? {} : { before: plain(old) };
        yield { key, ...before, ...(leaf.mark === 1 ? { after: plain(leaf) } : {}) };
        old = undefined;
      }
    }
  } finally {
    for (const view of views) closeView(host, view);
    held.release();
  }
}

function closeView({ engine }: Host, view: number): void {
  if (view >= engine.epoch) engine.closeView(view);
}
