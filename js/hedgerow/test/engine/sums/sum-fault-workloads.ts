/** The workloads of stores with sum trees in fault sweeps. */
import type { SumItem } from '../../../src/core/sum-tree-types.js';
import { type Operation, rows as rowsOf, slowly } from '../../support/fault-workloads.js';
import type { Entry } from '../../support/models/store-model.js';
import { sha256 } from '../../support/models/sum-reference.js';
import { random } from '../../support/random.js';

/** The tree that follows rows, and the tree that is written by hand. */
export const FOLLOWED = 'balances';
export const BY_HAND = 't';

export const SUMS = { [FOLLOWED]: { sum: '/cents', prefix: 'acct/' } };

/** Returns the key of a leaf of the manual tree in the model; no row has such a key. */
export const leafKey = (key: string) => `\u{10ffff}${Buffer.from(sha256(key)).toString('hex')}`;

const bytes = (text: string) => new TextEncoder().encode(text);

export const item = (key: string, sum: number): SumItem => ({
  key,
  value: bytes(`value of ${key}`),
  sum: BigInt(sum),
});

const items = (prefix: string, count: number, plus = 1) =>
  Array.from({ length: count }, (_, at) => item(`${prefix}${at}`, at + plus));

const putLeaves = (puts: readonly SumItem[]) => (model: Map<string, unknown>) => {
  for (const { key, sum } of puts) model.set(leafKey(key as string), sum);
};

const dropLeaves = (keys: readonly string[]) => (model: Map<string, unknown>) => {
  for (const key of keys) model.delete(leafKey(key));
};

const accounts = (count: number, plus = 0): Entry[] =>
  Array.from({ length: count }, (_, at) => [`acct/${at}`, { cents: at + plus }]);

const putRows = (entries: readonly Entry[]) => (model: Map<string, unknown>) => {
  for (const [key, value] of entries) model.set(key, value);
};

const dropRows = (keys: readonly string[]) => (model: Map<string, unknown>) => {
  for (const key of keys) model.delete(key);
};

function leaves(title: string, puts: readonly SumItem[]): Operation {
  return {
    title,
    run: ({ db }) => db.sumTree(BY_HAND).putMany(puts),
    model: putLeaves(puts),
  };
}

function load(title: string, entries: readonly Entry[]): Operation {
  return { title, run: ({ db }) => db.putMany(entries), model: putRows(entries) };
}

/** Returns the expected sums of the tree that follows the rows of a model, unordered. */
export function followed(entries: readonly Entry[]): bigint[] {
  return entries
    .filter(([key]) => key.startsWith('acct/'))
    .map(([, row]) => BigInt((row as { cents: number }).cents))
    .sort((a, b) => Number(a - b));
}

/** Together they fill more than one segment. */
const LARGE = Array.from({ length: 12 }, (_, at) => ({
  ...item(`large${at}`, at),
  value: random(at).bytes(100_000),
}));

export const SUM_WORKLOADS: Record<string, readonly Operation[]> = {
  'leaves put and deleted': [
    leaves('putMany', items('a', 100)),
    leaves('some again, some new', [...items('a', 20, 500), ...items('b', 30)]),
    {
      title: 'deleteMany',
      run: ({ db }) => db.sumTree(BY_HAND).deleteMany(items('a', 60).map(({ key }) => key)),
      model: dropLeaves(items('a', 60).map(({ key }) => key as string)),
    },
    {
      title: 'one put, strict',
      run: ({ db }) => db.sumTree(BY_HAND).put('one', item('one', 9), { durability: 'strict' }),
      model: putLeaves([item('one', 9)]),
    },
  ],
  'many large leaves': [
    {
      title: 'putMany, slowly',
      run: ({ db }) => db.sumTree(BY_HAND).putMany(slowly(LARGE)),
      model: putLeaves(LARGE),
    },
    leaves('more', items('more', 10)),
  ],
  'rows that a tree follows': [
    load('load', [...accounts(80), ...rowsOf('x', 40, 0)]),
    load('load again', accounts(50, 7)),
    {
      title: 'a put and a delete',
      run: ({ db }) => Promise.all([db.put('acct/1', { cents: 77 }), db.delete('acct/2')]),
      model: (model) => {
        putRows([['acct/1', { cents: 77 }]])(model);
        dropRows(['acct/2'])(model);
      },
    },
    {
      title: 'a transfer',
      run: ({ db }) =>
        db.transaction(async (tx) => {
          const found = await tx.getMany<{ cents: number }>(['acct/5', 'acct/6']);
          const total = found.reduce((sum, row) => sum + (row?.cents ?? 0), 0);
          tx.put('acct/5', { cents: 1 });
          tx.put('acct/6', { cents: total - 1 });
        }),
      model(model) {
        const total = ['acct/5', 'acct/6']
          .map((key) => (model.get(key) as { cents: number }).cents)
          .reduce((a, b) => a + b);
        putRows([
          ['acct/5', { cents: 1 }],
          ['acct/6', { cents: total - 1 }],
        ])(model);
      },
    },
    {
      title: 'a range deleted',
      run: ({ db }) => db.deleteMany({ prefix: 'acct/3' }),
      model: (model) =>
        dropRows([...model.keys()].filter((key) => key.startsWith('acct/3')))(model),
    },
    { title: 'all deleted', run: ({ db }) => db.clear(), model: (model) => model.clear() },
  ],
  'leaves beside rows, and others': [
    load('load', accounts(30)),
    {
      title: 'behind another',
      async run({ db, other }) {
        await other.sumTree(BY_HAND).put('theirs', item('theirs', 3));
        await other.put('acct/theirs', { cents: 4 });
        await db.sumTree(BY_HAND).putMany(items('mine', 20));
        await db.put('acct/mine', { cents: 5 });
      },
      model(model) {
        putLeaves([item('theirs', 3), ...items('mine', 20)])(model);
        putRows([
          ['acct/theirs', { cents: 4 }],
          ['acct/mine', { cents: 5 }],
        ])(model);
      },
      between: [
        putLeaves([item('theirs', 3)]),
        putRows([['acct/theirs', { cents: 4 }]]),
        putLeaves(items('mine', 20)),
      ],
    },
    {
      title: 'others in mid-change',
      run: ({ db, other }) =>
        db
          .sumTree(BY_HAND)
          .putMany(
            slowly(items('b', 30), 10, () => other.sumTree(BY_HAND).putMany(items('b', 3, 900))),
          ),
      model: putLeaves(items('b', 30)),
      between: [putLeaves(items('b', 3, 900))],
    },
  ],
  'reads, proofs and collection': [
    leaves('putMany', items('a', 60)),
    leaves('again', items('a', 60, 300)),
    {
      title: 'reads',
      async run({ db }) {
        const tree = db.sumTree(BY_HAND);
        await tree.get('a1');
        await tree.entries().toArray();
        await tree.prove('a1');
        await tree.proveMany(['a2', 'none']);
        await tree.diff(db.root).toArray();
      },
      model() {},
    },
    { title: 'collect', run: ({ db }) => db.health.compact(), model() {} },
    {
      title: 'verify',
      async run({ db }) {
        const { ok } = await db.health.verify();
        if (!ok) throw new Error('a sound store has faults');
      },
      model() {},
    },
  ],
};
