/** Random steps of a transaction that reads by index, and a model of their results. */

import type { EntryPosition } from '../../../src/core/indexes/index-range.js';
import type { IndexOrderOptions } from '../../../src/engine/read/rank-options.js';
import type { IndexDefinitions, Transaction } from '../../../src/index.js';
import { stepFault } from '../property.js';
import { type Random, random } from '../random.js';
import { type IndexedEntry, rankOf } from './index-model.js';
import { KEYS, modelOf, positionIn, type Range, rangeOf, rowValue } from './indexed-rows.js';
import { type Entry, select, sorted } from './store-model.js';

/** One step of a transaction's function, and its result. */
export type Step =
  | { op: 'get'; key: string; result: unknown }
  | { op: 'count'; range: Range; result: number }
  | { op: 'scan'; range: Range; take: number; result: IndexedEntry[] }
  | { op: 'keys'; range: Range; result: string[] }
  | { op: 'at'; range: Range; n: number; result: IndexedEntry | undefined }
  | { op: 'rank'; range: Range; at: EntryPosition; result: number }
  | { op: 'rows'; prefix: string; result: Entry[] }
  | { op: 'put'; key: string; value: unknown }
  | { op: 'delete'; key: string };

export async function step(
  tx: Transaction,
  from: Random,
  definitions: IndexDefinitions,
  before: readonly Step[],
): Promise<Step> {
  const key = from.pick(KEYS);
  const whole = rangeOf(from, definitions);
  const limit = from.below(2) === 0 ? {} : { limit: from.below(6) };
  const offset = from.below(2) === 0 ? {} : { offset: from.below(4) };
  const ordered = { ...whole, reverse: from.below(2) === 0 };
  const at = positionIn(from, definitions, whole.index);
  const after = from.below(3) === 0 ? { after: at } : {};
  const range: Range = { ...ordered, ...limit, ...offset, ...after };
  switch (from.below(13)) {
    case 0:
      return { op: 'get', key, result: await tx.get(key) };
    case 1:
    case 2:
      return { op: 'count', range: whole, result: await tx.count(whole) };
    case 3: {
      const result: IndexedEntry[] = [];
      const take = 1 + from.below(3);
      for await (const [found, value, secondary] of tx.scan(range)) {
        result.push([found, value, secondary]);
        if (result.length === take) break;
      }
      return { op: 'scan', range, take, result };
    }
    case 4: {
      const result = (await tx.scan(range).toArray()) as IndexedEntry[];
      return { op: 'scan', range, take: Number.POSITIVE_INFINITY, result };
    }
    case 5:
      return { op: 'keys', range, result: await tx.scan(range).keys().toArray() };
    case 6: {
      const prefix = from.pick(['k1', 'm', 'k～']);
      return { op: 'rows', prefix, result: await tx.scan({ prefix }).toArray() };
    }
    case 7: {
      const n = from.below(6);
      const result = await tx.at(n, ordered as IndexOrderOptions);
      return { op: 'at', range: ordered, n, result };
    }
    case 8: {
      const result = await tx.rank(at, ordered as IndexOrderOptions);
      return { op: 'rank', range: ordered, at, result };
    }
    case 9:
      tx.delete(key);
      return { op: 'delete', key };
    default: {
      // The new value depends on the rows that the step has read.
      const text = JSON.stringify(before, (_, v) => (v instanceof Uint8Array ? v.length : v));
      const seed = [...text].reduce((sum, c) => (sum * 31 + (c.codePointAt(0) ?? 0)) % 9973, 7);
      const value = rowValue(random(seed));
      tx.put(key, value);
      return { op: 'put', key, value };
    }
  }
}

/** Returns the expected result of a step; applies its edit to the model. */
export function replay(
  rows: Map<string, unknown>,
  definitions: IndexDefinitions,
  step: Step,
): unknown {
  switch (step.op) {
    case 'get':
      return rows.get(step.key);
    case 'count':
      return modelOf(rows, definitions, step.range).length;
    case 'scan':
      return modelOf(rows, definitions, step.range).slice(0, step.take);
    case 'keys':
      return modelOf(rows, definitions, step.range).map(([key]) => key);
    case 'at':
      return modelOf(rows, definitions, step.range)[step.n];
    case 'rank':
      return rankOf(modelOf(rows, definitions, step.range), step.at, step.range.reverse);
    case 'rows':
      return select(sorted(rows), { prefix: step.prefix });
    case 'put':
      rows.set(step.key, step.value);
      return undefined;
    default:
      rows.delete(step.key);
      return undefined;
  }
}

/** Returns the first step with a wrong result. */
export function fault(
  rows: Map<string, unknown>,
  definitions: IndexDefinitions,
  steps: readonly Step[],
): string | undefined {
  for (const [at, step] of steps.entries()) {
    const expected = replay(rows, definitions, step);
    if (!('result' in step)) continue;
    const { result, ...done } = step;
    const fault = stepFault(at, done, result, expected);
    if (fault !== undefined) return fault;
  }
  return undefined;
}
