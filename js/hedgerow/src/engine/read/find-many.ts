/** Reads the values of many keys, in slices. Loaded when the keys have more than one part. */

import { SlicePace, turn } from '../../base/slice-queue.js';
import { ROWS_IN_MS } from '../../core/assumed-speed.js';
import * as reads from '../../core/calls/read-calls.js';
import type { Host } from '../../core/operation-host.js';
import { foundOf, type KeyParts } from './key-batches.js';

/** The most keys in one part: absent keys are fast, so that the pace alone would set no limit. */
const MOST_KEYS = 8192;

/**
 * Reads the values of many keys from a view that the caller holds. `check` throws to stop the read between slices. Does
 * not search keys for which `own` returns a value.
 */
export async function findMany(
  host: Host,
  view: number,
  parts: KeyParts,
  check: () => void,
  own?: (key: string) => { readonly value: unknown } | undefined,
): Promise<unknown[]> {
  const { engine } = host;
  const values: unknown[] = [];
  // Half of a slice: the last step of the search shares the slice.
  const pace = new SlicePace(host.sliceMs / 2, ROWS_IN_MS);
  try {
    for (let beginMs = performance.now(); ; ) {
      const { part } = parts;
      const known = own && part.map(own);
      const wanted = known ? part.filter((_, at) => known[at] === undefined) : part;
      const op = reads.find(engine, view, wanted);
      const passingMs = performance.now() - beginMs;
      let startMs = 0;
      const found = await host.read(op, () => {
        startMs = performance.now();
        return foundOf(engine, wanted.length);
      });
      let at = 0;
      for (const index of part.keys()) {
        const one = known?.[index];
        values.push(one === undefined ? found[at++] : one.value);
      }
      if (parts.isLast) return values;
      pace.learn(part.length, passingMs + performance.now() - startMs);
      await turn();
      check();
      beginMs = performance.now();
      parts.advance(Math.min(pace.units, MOST_KEYS));
    }
  } finally {
    parts.end();
  }
}
