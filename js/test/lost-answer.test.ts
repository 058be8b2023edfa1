import { describe, expect, it } from 'vitest';
import { sweep, WORKLOADS } from './fault-sweep.js';

for (const [title, operations] of Object.entries(WORKLOADS)) {
  describe(`with ${title}, whatever storage call fails`, () => {
    for (const when of ['after'] as const) {
      it(`${when} it takes effect, each change is whole or not at all`, async () => {
        const calls = await sweep(operations, { at: 0, when });
        expect(calls).toBeGreaterThan(5);
        for (let at = 1; at <= calls; at++) {
          await sweep(operations, { at, when }).catch((cause: unknown) => {
            throw new Error(`call ${at} of ${calls}: ${cause}`, { cause });
          });
        }
      });
    }
  });
}
