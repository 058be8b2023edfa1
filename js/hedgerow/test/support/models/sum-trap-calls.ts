/** Random calls on sum trees, any of which may fail, and a model of the store after them. */

import type { SumLeaf } from '../../../src/core/sum-tree-types.js';
import type { Store } from '../../../src/index.js';
import type { Random } from '../random.js';
import { hex, sha256 } from './sum-reference.js';

/** The model: rows, and leaves put by hand, by the texts of their keys. */
export interface SumModel {
  readonly rows: Map<string, { cents: number }>;
  readonly leaves: Map<string, bigint>;
}

export const SUMS = { balances: { sum: '/cents', prefix: 'acct/' } };

/** A call, and its effect on the model. A read checks its result. */
export interface SumCall {
  readonly title: string;
  run(db: Store, model: SumModel): Promise<unknown>;
  apply(model: SumModel): void;
}

const value = (key: string) => new TextEncoder().encode(key.repeat(5));
export const copyOf = ({ rows, leaves }: SumModel): SumModel => ({
  rows: new Map(rows),
  leaves: new Map(leaves),
});

const KEYS = Array.from({ length: 200 }, (_, at) => `k${at}`);
const ACCOUNTS = Array.from({ length: 200 }, (_, at) => `${at % 5 === 0 ? 'x' : 'acct'}/${at}`);

function fail(what: string): never {
  throw new Error(`wrong: ${what}`);
}

const MAKERS: ((from: Random) => SumCall)[] = [
  (from) => {
    const puts = from.shuffle(KEYS).slice(0, from.below(60));
    const sum = BigInt(from.below(1000) + 1);
    return {
      title: 'putMany',
      run: (db) => db.sumTree('t').putMany(puts.map((key) => ({ key, value: value(key), sum }))),
      apply: ({ leaves }) => {
        for (const key of puts) leaves.set(key, sum);
      },
    };
  },
  (from) => {
    const keys = from.shuffle(KEYS).slice(0, from.below(30));
    return {
      title: 'deleteMany',
      run: (db) => db.sumTree('t').deleteMany(keys),
      apply: ({ leaves }) => {
        for (const key of keys) leaves.delete(key);
      },
    };
  },
  (from) => {
    const puts = from
      .shuffle(ACCOUNTS)
      .slice(0, from.below(50))
      .map((key) => [key, { cents: from.below(1000) }] as const);
    return {
      title: 'rows put',
      run: (db) => db.putMany(puts),
      apply: ({ rows }) => {
        for (const [key, row] of puts) rows.set(key, row);
      },
    };
  },
  (from) => {
    const [key, row] = [from.pick(ACCOUNTS), { cents: from.below(1000) }];
    return {
      title: 'a row put',
      run: (db) => db.put(key, row),
      apply: ({ rows }) => rows.set(key, row),
    };
  },
  (from) => {
    const keys = from.shuffle(ACCOUNTS).slice(0, from.below(20));
    return {
      title: 'rows deleted',
      run: (db) => db.deleteMany(keys),
      apply: ({ rows }) => {
        for (const key of keys) rows.delete(key);
      },
    };
  },
  (from) => {
    const keys = from.shuffle(KEYS).slice(0, 20);
    return {
      title: 'getMany',
      async run(db, { leaves }) {
        const found = await db.sumTree('t').getMany(keys);
        if (found.some((leaf, at) => leaf?.sum !== leaves.get(keys[at]!))) fail('getMany');
      },
      apply() {},
    };
  },
  () => ({
    title: 'entries',
    run: (db, model) => expectHeld(db, model),
    apply() {},
  }),
  (from) => {
    const keys = from.shuffle(KEYS).slice(0, 5);
    return {
      title: 'proveMany',
      run: (db) => db.sumTree('t').proveMany(keys),
      apply() {},
    };
  },
  (from) => ({
    title: 'diff',
    async run(db, { leaves }) {
      const before = db.root;
      const key = from.pick(KEYS);
      const changes = await db.sumTree('t').diff('0'.repeat(64), before).toArray();
      if (changes.length !== leaves.size) fail(`diff of ${key}`);
    },
    apply() {},
  }),
];

/** Throws unless a store has the leaves and the sums of a model, in each of its trees. */
export async function expectHeld(db: Store, { rows, leaves }: SumModel): Promise<void> {
  const same = (found: readonly SumLeaf[], expected: ReadonlyMap<string, bigint>) => {
    const sums = new Map(found.map(({ key, sum }) => [hex(key), sum]));
    const isSame = (key: string, sum: bigint) => sums.get(hex(sha256(key))) === sum;
    const all = [...expected].every(([key, sum]) => isSame(key, sum));
    if (!all || found.length !== expected.size) fail(`${found.length} of ${expected.size} leaves`);
  };
  const accounts = [...rows].filter(([key]) => key.startsWith('acct/'));
  same(await db.sumTree('t').entries().toArray(), leaves);
  same(
    await db.sumTree('balances').entries().toArray(),
    new Map(accounts.map(([key, { cents }]) => [key, BigInt(cents)])),
  );
  const total = accounts.reduce((sum, [, { cents }]) => sum + cents, 0);
  const { root } = db.sumTree('balances');
  if (root.sum !== BigInt(total)) fail(`the total is ${root.sum}, not ${total}`);
  const count = await db.count();
  if (count !== rows.size) fail(`${count} of ${rows.size} rows`);
}

/** Returns a random call. */
export function sumCallFrom(from: Random): SumCall {
  return from.pick(MAKERS)(from);
}
