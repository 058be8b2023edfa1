/** Sum trees: measures leaves put at once and one by one, the cost of following to a load, and proofs. */
import { type SumItem, type SumLeaf, verifySumProof } from 'hedgerow/proofs';
import type { Act, Contestant, Sample, Samples, Setting, Suite } from '../bench-case.js';
import { wants } from '../bench-case.js';
import { percentile, timed } from '../measure.js';
import { openStore } from '../peers/hedgerow.js';
import { random } from '../random.js';
import { makeRows, type Row } from '../rows.js';
import { heard } from './indexes.js';

type Tree = ReturnType<Awaited<ReturnType<typeof openStore>>['sumTree']>;

/** The number of new leaves, and of leaves in the tree before. */
const SHAPES: readonly (readonly [name: string, leaves: number, into: number])[] = [
  ['sum-fresh-100', 100, 0],
  ['sum-fresh-1000', 1000, 0],
  ['sum-fresh-10000', 10_000, 0],
  ['sum-100-into-1000', 100, 1000],
  ['sum-1000-into-1000', 1000, 1000],
  ['sum-100-into-10000', 100, 10_000],
  ['sum-1000-into-10000', 1000, 10_000],
  ['sum-1000-into-100000', 1000, 100_000],
];

/** The most leaves that are put one by one. */
const MOST_ONE_BY_ONE = 1000;
const VALUE_BYTES = 32;
const PROOFS = 500;
const LEAVES_PROVED = 10_000;

function makeLeaves(count: number, seed: number): SumItem[] {
  const next = random(seed);
  const bytes = (length: number) => Uint8Array.from({ length }, () => next() * 256);
  return Array.from({ length: count }, () => ({
    key: bytes(32),
    value: bytes(VALUE_BYTES),
    sum: BigInt(Math.floor(next() * 2 ** 32)),
  }));
}

const totalOf = (leaves: readonly SumItem[]) => leaves.reduce((total, { sum }) => total + sum, 0n);

/** Puts leaves; returns its longest slice, where known. */
type Put = (tree: Tree, leaves: readonly SumItem[]) => Promise<number | undefined>;

const atOnce: Put = async (tree, leaves) => (await tree.putMany(leaves)).stats.longestSliceMs;

const oneByOne: Put = async (tree, leaves) => {
  for (const leaf of leaves) await tree.put(leaf.key, leaf);
  return undefined;
};

function putting(name: string, kind: Contestant['kind'], put: Put): Contestant {
  const isLoop = put === oneByOne;
  const left = SHAPES.filter(([, leaves]) => isLoop && leaves > MOST_ONE_BY_ONE);
  // A page for each shape would load all of the module again: one store has a tree for each.
  const act: Act = async (setting) => {
    const samples: Samples = {};
    const store = await openStore();
    // The part of the core with sum trees is loaded before any clock starts.
    await store.sumTree('first').put('first', { value: new Uint8Array(), sum: 1n });
    for (const [shape, count, into] of SHAPES) {
      if (!wants(setting, shape) || left.some(([name]) => name === shape)) continue;
      const before = makeLeaves(Math.min(into, setting.rows), 1);
      const leaves = makeLeaves(Math.min(count, setting.rows), 2);
      const tree = store.sumTree(shape);
      await tree.putMany(before);
      const { ms, result } = await timed(() => heard(() => put(tree, leaves)));
      if (tree.root.sum !== totalOf(before) + totalOf(leaves)) throw new Error('a wrong total');
      const { result: longestMs, waitedMs } = result;
      const details = {
        'leaves per second': (1000 * leaves.length) / ms,
        ...(longestMs === undefined ? {} : { 'longest slice, ms': longestMs }),
        'longest gap between two timers, ms': waitedMs,
      };
      samples[shape] = { value: ms, details };
      await tree.deleteMany([...before, ...leaves].map(({ key }) => key));
    }
    await store.close();
    return samples;
  };
  const reason = 'ten times as many as in the case before, one by one, tell nothing new';
  const cannot = Object.fromEntries(left.map(([shape]) => [shape, reason]));
  return { name, kind, cannot, acts: [act] };
}

const titleOf = (leaves: number, into: number) =>
  `${leaves.toLocaleString('en')} leaves into ${into === 0 ? 'an empty tree' : into.toLocaleString('en')}`;

export const SUMS: Suite = {
  name: 'sums',
  cases: SHAPES.map(([name, leaves, into]) => ({
    name,
    title: titleOf(leaves, into),
    unit: 'ms',
  })),
  contestants: [
    putting('hedgerow', 'ours', atOnce),
    putting('a loop of awaited puts', 'floor', oneByOne),
  ],
};

function loading(name: string, kind: Contestant['kind'], isFollowed: boolean): Contestant {
  const act: Act = async ({ rows: count }) => {
    const rows = makeRows(count);
    const sums = { times: { sum: '/modified', prefix: 'issue/' } };
    const store = await openStore(isFollowed ? { advanced: { sums } } : {});
    const { ms, result } = await timed(() => store.putMany(rows, { key: '/id' }));
    if (isFollowed) {
      const total = rows.reduce((sum, row: Row) => sum + BigInt(row.modified), 0n);
      if (store.sumTree('times').root.sum !== total) throw new Error('a wrong total');
    }
    const { longestSliceMs, slices, storageMs } = result.stats;
    await store.close();
    const details = {
      slices,
      'longest slice, ms': longestSliceMs,
      'waiting for storage, ms': storageMs,
    };
    return { 'load-followed': { value: ms, details } };
  };
  return { name, kind, acts: [act] };
}

export const SUM_LOAD: Suite = {
  name: 'sum-load',
  cases: [{ name: 'load-followed', title: 'the load, followed by a sum tree', unit: 'ms' }],
  contestants: [
    loading('hedgerow', 'ours', true),
    loading('the same without a sum tree', 'floor', false),
  ],
};

function sampleOf(times: readonly number[], proofBytes: number): Sample {
  const details = { 'p95, ms': percentile(times, 0.95), 'bytes of a proof': proofBytes };
  return { value: percentile(times, 0.5), details };
}

const proving: Act = async ({ rows }: Setting) => {
  const leaves = makeLeaves(Math.min(rows, LEAVES_PROVED), 3);
  const store = await openStore();
  const tree = store.sumTree('proved');
  await tree.putMany(leaves);
  const [made, verified]: [number[], number[]] = [[], []];
  let proofBytes = 0;
  await timed(async () => {
    for (let at = 0; at < PROOFS; at++) {
      const leaf = leaves[(at * 7919) % leaves.length] as SumItem & SumLeaf;
      let startMs = performance.now();
      const proof = await tree.prove(leaf.key);
      made.push(performance.now() - startMs);
      proofBytes += proof.length;
      startMs = performance.now();
      const holds = verifySumProof(tree.root, leaf.key, leaf, proof);
      verified.push(performance.now() - startMs);
      if (!holds) throw new Error('a proof does not hold');
    }
  });
  await store.close();
  const meanBytes = proofBytes / PROOFS;
  return { 'sum-prove': sampleOf(made, meanBytes), 'sum-verify': sampleOf(verified, meanBytes) };
};

export const SUM_PROOFS: Suite = {
  name: 'sum-proofs',
  cases: [
    { name: 'sum-prove', title: 'a proof of one of 10,000 leaves made (p50)', unit: 'ms' },
    { name: 'sum-verify', title: 'and verified, without a store (p50)', unit: 'ms' },
  ],
  contestants: [{ name: 'hedgerow', kind: 'ours', acts: [proving] }],
};
