/**
 * The sweep of faults over every driver of SQLite: nothing hangs, and nothing is torn. Each driver
 * has its share of the calls, another one for each workload; `ALL_FAULTS=1` sweeps all of them.
 */
import { afterAll, describe, expect, it } from 'vitest';
import { sweep } from './fault-sweep.js';
import { WORKLOADS } from './fault-workloads.js';
import { SQL_STORAGES } from './sql-storages.js';

/** One call of so many fails in the ordinary run. */
const STRIDE = process.env.ALL_FAULTS === '1' ? 1 : 61;

let runs = 0;
afterAll(() => console.info(`${runs} runs over ${SQL_STORAGES.length} drivers`));

for (const [title, make] of SQL_STORAGES) {
  describe(title, { timeout: STRIDE === 1 ? 3_600_000 : 120_000 }, () => {
    for (const when of ['before', 'after'] as const) {
      for (const lasting of [false, true]) {
        const how = lasting ? 'for a while' : 'once';
        it(`each change is whole or not at all when a call fails ${how}, ${when}`, async () => {
          for (const [at, [workload, operations]] of Object.entries(WORKLOADS).entries()) {
            if (STRIDE > 1 && at % 4 !== (when === 'before' ? 0 : 2) + (lasting ? 1 : 0)) continue;
            const calls = await sweep(operations, { at: 0, when }, { storage: await make() });
            expect(calls).toBeGreaterThan(5);
            for (let call = 1 + (at % STRIDE); call <= calls; call += STRIDE) {
              runs += 1;
              const fault = { at: call, when, lasting };
              await sweep(operations, fault, { storage: await make() }).catch((cause: unknown) => {
                throw new Error(`${workload}, call ${call} of ${calls}: ${cause}`, { cause });
              });
            }
          }
        });
      }
    }
  });
}
