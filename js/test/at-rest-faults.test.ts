/** Encrypted stores over storage that fails: at every call that is made to it nothing hangs, is torn, or loses its key. */
import { describe, expect, it } from 'vitest';
import { atRest } from '../src/encryption/index.js';
import { sweep } from './fault-sweep.js';
import { WORKLOADS } from './fault-workloads.js';

const encryption = atRest({ key: new Uint8Array(32).fill(7) });
/** Small and bulk changes, collections, and changes of several handles. */
const CHOSEN = ['small changes', 'a large load', 'a writer that commits now and then'];

for (const title of CHOSEN) {
  describe(`with ${title}, whatever storage call fails`, () => {
    const operations = WORKLOADS[title] ?? [];
    for (const when of ['before', 'after'] as const) {
      for (const lasting of [false, true]) {
        const how = lasting ? 'as do all until they are healed' : 'once';
        it(`${when} it takes effect, ${how}, each change is whole or not at all`, async () => {
          const calls = await sweep(operations, { at: 0, when }, { encryption });
          expect(calls).toBeGreaterThan(5);
          for (let at = 1; at <= calls; at++) {
            await sweep(operations, { at, when, lasting }, { encryption }).catch((cause) => {
              throw new Error(`call ${at} of ${calls}: ${cause}`, { cause });
            });
          }
        });
      }
    }
  });
}
