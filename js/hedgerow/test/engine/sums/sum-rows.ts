/** Leaves, rows that a sum tree follows, and the sums in a store. */

import type { SumItem } from '../../../src/core/sum-tree-types.js';
import type { Store } from '../../../src/index.js';
import { kindOf } from '../../support/error-kind.js';
import { hex } from '../../support/models/sum-reference.js';

export const SUMS = { balances: { sum: '/cents', prefix: 'acct/' } };
export const value = new TextEncoder().encode('a value');
export const leaves = (prefix: string, count: number, sum = 1n): SumItem[] =>
  Array.from({ length: count }, (_, at) => ({ key: `${prefix}${at}`, value, sum }));
export const accounts = (count: number, cents = 1) =>
  Array.from({ length: count }, (_, at) => [`acct/${at}`, { cents, at }] as const);
export const pause = () => new Promise((resolve) => setTimeout(resolve, 0));

export const codeOf = (error: unknown) => kindOf(error);

export async function sumsOf(db: Store, name = 't'): Promise<Map<string, bigint>> {
  const found = await db.sumTree(name).entries().toArray();
  return new Map(found.map(({ key, sum }) => [hex(key), sum]));
}
