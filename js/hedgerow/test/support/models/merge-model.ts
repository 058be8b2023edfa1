/** A model of the rows of branches, and of three-way merges. */
import { expect } from 'vitest';
import { type Conflict, memory, open, type Store } from '../../../src/index.js';
import type { Storage } from '../../../src/storage/segment-store.js';
import { all, expectSame, sorted } from './store-model.js';

export type Model = Map<string, unknown>;

async function rootOf(rows: Model): Promise<string> {
  const fresh = await open('fresh', { storage: memory() });
  await fresh.putMany([...rows]);
  return fresh.root;
}

export async function expectStore(db: Store, rows: Model, message = ''): Promise<void> {
  expectSame(await all(db), sorted(rows), message);
  expect(db.root, message).toBe(await rootOf(rows));
}

const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

/** Merges models three ways; `decide` resolves conflicts. */
export function merged(
  base: Model,
  ours: Model,
  theirs: Model,
  decide: (conflict: Conflict) => unknown,
) {
  const result = new Map(ours);
  const conflicts: string[] = [];
  let applied = 0;
  for (const key of new Set([...base.keys(), ...theirs.keys()])) {
    const [old, own, other] = [base, ours, theirs].map((rows) => rows.get(key));
    if (same(old, other) || same(own, other)) continue;
    let value = other;
    if (!same(old, own)) {
      conflicts.push(key);
      value = decide({ key, base: old, ours: own, theirs: other });
    }
    if (!same(value, own)) applied += 1;
    if (value === undefined) result.delete(key);
    else result.set(key, value);
  }
  return { result, conflicts: conflicts.sort(), applied };
}

/** Storage whose handles behave like several tabs that get no messages from each other. */
export function tabs(): Storage {
  return { ...memory(), isShared: true };
}
