/** Storage fails at every call in turn while sum trees change: rows and sums always agree. */
import { expect } from 'vitest';
import type { Store } from '../../../src/index.js';
import { itIsWhole } from '../../support/fault-sweep.js';
import { type Entry, sorted } from '../../support/models/store-model.js';
import { BY_HAND, FOLLOWED, followed, SUM_WORKLOADS, SUMS } from './sum-fault-workloads.js';

/** Reads the rows, then the leaves put by hand. Checks that the tree that follows rows matches them. */
async function holds(db: Store): Promise<Entry[]> {
  // Reads one commit, with any later commits of others.
  const snap = db.snapshot();
  try {
    const rows = await snap.scan().toArray();
    const of = async (name: string) => {
      const leaves = await snap.sumTree(name).entries().toArray();
      const total = leaves.reduce((sum, leaf) => sum + leaf.sum, 0n);
      expect(snap.sumTree(name).root.sum).toBe(total);
      return leaves;
    };
    const sums = (await of(FOLLOWED)).map(({ sum }) => sum).sort((a, b) => Number(a - b));
    expect(sums).toEqual(followed(rows));
    const byHand = (await of(BY_HAND)).map(
      ({ key, sum }): Entry => [`\u{10ffff}${Buffer.from(key).toString('hex')}`, sum],
    );
    return sorted([...rows, ...byHand]);
  } finally {
    snap.close();
  }
}

for (const [title, operations] of Object.entries(SUM_WORKLOADS)) {
  itIsWhole(title, operations, { advanced: { sums: SUMS } }, holds);
}
