/** The effects of definitions on rows: a model of indexes, of sum trees that follow rows, and of the rules of these. */
import { expect } from 'vitest';
import type { SumDefinition, SumDefinitions } from '../../../src/core/sum-tree-definition.js';
import type { SumRoot } from '../../../src/core/sum-tree-types.js';
import type { SumTree } from '../../../src/engine/sums/sum-tree.js';
import { type IndexDefinitions, memory, open, type Store } from '../../../src/index.js';
import type { Random } from '../random.js';
import { until } from '../watching.js';
import { entriesOfRows } from './index-model.js';
import { expectSame, failure, sorted } from './store-model.js';
import { hex, sha256 } from './sum-reference.js';

export type Rows = Map<string, unknown>;

/** The definitions that a store is opened with. */
export interface Definitions {
  readonly indexes: IndexDefinitions | undefined;
  readonly sums: SumDefinitions | undefined;
  readonly dropOtherIndexes: boolean;
}

const INDEXES: IndexDefinitions = {
  n: { path: '/n' },
  tags: { path: '/tags', prefix: 's/' },
  both: { path: ['/m', '/n'] },
  old: { path: '/n', nulls: true, below: 50 },
  words: { path: ['/m', { words: '/tags' }], nulls: true },
};
const RULES: readonly SumDefinition[] = [
  { prefix: 's/', sum: '/n' },
  { prefix: 's/', sum: '/m' },
  { prefix: 't/', sum: '/n' },
  { sum: '/m' },
];
const NAMES = ['a', 'b'];
export const KEYS = ['s/1', 's/2', 's/3', 's/4', 't/1', 't/2', 'u'];

/** Returns the options of `open` for definitions. */
export const openedWith = ({ indexes, ...advanced }: Definitions) => ({ indexes, advanced });

/** Returns random definitions for the opening of a store; with `mayKeep`, `undefined` may keep the present ones. */
export function someDefinitions(from: Random, mayKeep: boolean): Definitions {
  const some = <T>(all: readonly (readonly [string, T])[]) =>
    Object.fromEntries(all.filter(() => from.next() < 0.5));
  const isKept = () => mayKeep && from.next() < 0.2;
  const sums = NAMES.map((name) => [name, from.pick(RULES)] as const);
  const indexes = isKept() ? undefined : some(Object.entries(INDEXES));
  // Without other indexes the store comes to the root of a fresh one.
  const dropOtherIndexes = indexes !== undefined;
  return { indexes, sums: isKept() ? undefined : some(sums), dropOtherIndexes };
}

/** Returns a row, which sometimes breaks a rule. */
export function someRow(from: Random): unknown {
  const number = () => {
    const kind = from.below(16);
    if (kind < 2) return from.pick([-1, 0.5, 'x', true]);
    if (kind === 2) return null;
    return kind < 5 ? String(from.below(100)) : from.below(100);
  };
  const tags = from.shuffle(['x', 'Y z', 'z']).slice(0, from.below(3));
  return from.next() < 0.1 ? { tags } : { n: number(), m: number(), tags };
}

const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

export const areSame = (a: Rows, b: Rows) => same(sorted(a), sorted(b));

/** Returns the leaves of a tree, by their keys in hexadecimal; `undefined` if the rows break its rule. */
function leavesOf(rows: Rows, { prefix = '', sum }: SumDefinition) {
  const leaves = new Map<string, bigint>();
  for (const [key, row] of rows) {
    if (!key.startsWith(prefix)) continue;
    const found = (row as Record<string, unknown>)[sum.slice(1)] ?? undefined;
    if (found === undefined) continue;
    if (!/^\d+$/.test(String(found))) return undefined;
    leaves.set(hex(sha256(key)), BigInt(found as string));
  }
  return leaves;
}

/** Returns whether rows break one of the rules. */
export function areBroken(rows: Rows, sums: SumDefinitions = {}): boolean {
  return Object.values(sums).some((rule) => leavesOf(rows, rule) === undefined);
}

/** Merges three states of rows by the specification. */
export function merged(
  base: Rows,
  ours: Rows,
  theirs: Rows,
  decide: (key: string, own: unknown, other: unknown) => unknown,
): Rows {
  const result = new Map(ours);
  for (const key of new Set([...base.keys(), ...theirs.keys()])) {
    const [old, own, other] = [base, ours, theirs].map((rows) => rows.get(key));
    if (same(old, other) || same(own, other)) continue;
    const value = same(old, own) ? other : decide(key, own, other);
    if (value === undefined) result.delete(key);
    else result.set(key, value);
  }
  return result;
}

const roots = new Map<string, Promise<string>>();

/** Returns the root of a fresh store with these rows and definitions. */
export function freshRoot(
  rows: Rows,
  { indexes, sums }: Pick<Definitions, 'indexes' | 'sums'>,
): Promise<string> {
  const name = JSON.stringify([sorted(rows), indexes, sums]);
  const made = async () => {
    const fresh = await open('fresh', { storage: memory(), indexes, advanced: { sums } });
    await fresh.putMany([...rows]);
    const { root } = fresh;
    await fresh.close();
    return root;
  };
  const root = roots.get(name) ?? made();
  roots.set(name, root);
  return root;
}

/** Returns the root of a tree; tries again while another tab replaces the tree by its own definition. */
async function rootOf(tree: SumTree): Promise<SumRoot> {
  for (;;) {
    try {
      return tree.root;
    } catch (cause) {
      expect(cause).toEqual(failure('not-ready'));
      await tree.get('s/1');
    }
  }
}

/**
 * Compares a handle with its rows and its definitions. With `isAlone`, no other definitions are in use, and the handle
 * must come to the root of a fresh store.
 */
export async function check(
  db: Store,
  rows: Rows,
  { indexes, sums }: Definitions,
  isAlone: boolean,
): Promise<void> {
  const expected = sorted(rows);
  expectSame(await db.scan().toArray(), expected, 'rows');
  for (const [index, definition] of Object.entries(indexes ?? {})) {
    expectSame(await db.scan({ index }).toArray(), entriesOfRows(definition, expected), index);
  }
  const isBroken = areBroken(rows, sums);
  for (const [name, rule] of Object.entries(sums ?? {})) {
    const tree = db.sumTree(name);
    if (isBroken) {
      await expect(tree.get('s/1'), name).rejects.toEqual(failure('invalid-argument/value'));
      continue;
    }
    const leaves = leavesOf(rows, rule);
    const found = await tree.entries().toArray();
    expect(new Map(found.map(({ key, sum }) => [hex(key), sum])), name).toEqual(leaves);
    const total = [...(leaves ?? new Map<string, bigint>()).values()].reduce((a, b) => a + b, 0n);
    expect((await rootOf(tree)).sum, name).toBe(total);
  }
  if (!isAlone || indexes === undefined || sums === undefined || isBroken) return;
  const root = await freshRoot(rows, { indexes, sums });
  await until(() => db.root === root).catch(() => expect(db.root).toBe(root));
}
