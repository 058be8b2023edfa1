/** Faults over every driver of SQLite: no call hangs, and no change is torn. Each seed fails a call of a workload. */
import { expect, it } from 'vitest';
import { sweep, WAYS } from '../../hedgerow/test/support/fault-sweep.js';
import { WORKLOADS } from '../../hedgerow/test/support/fault-workloads.js';
import { forSeeds } from '../../hedgerow/test/support/property.js';
import { SQL_STORAGES } from './support/sql-storages.js';

it.each(SQL_STORAGES)('%s: each change is whole or not at all', async (_title, make) => {
  await forSeeds(24, async (from, _, begin) => {
    const [workload, operations] = from.pick(Object.entries(WORKLOADS));
    // As many as in memory: the wrapper makes the calls.
    const calls = await sweep(operations, { at: 0, when: 'before' });
    expect(calls).toBeGreaterThan(5);
    const fault = { at: 1 + from.below(calls), ...from.pick(WAYS) };
    begin({ workload, ...fault });
    await sweep(operations, fault, { storage: await make() });
  });
});
