/**
 * Opens in pages just loaded, by the entries of the package: before and after the browser may have kept compiled code.
 */
import type { Sample, Samples, Setting, Suite } from '../bench-case.js';
import { pause } from '../measure.js';
import type { Peer } from '../peers/database.js';
import { HEDGEROW, PEERS, SLIM } from '../peers/index.js';
import { randomIds } from '../rows.js';
import { contestantOf, fill } from './contestants.js';
import { opened } from './life-second.js';

/** V8 keeps compiled code once it has compiled no more for two seconds. */
const STAY_MS = 3500;

/** Opens the store, and stays open for a while: Chromium opens a database from disk if no page has it open. */
async function openFor(peer: Peer, { rows }: Setting, ms: number): Promise<Sample> {
  const [id = ''] = randomIds(1, rows, 6);
  const { db, openMs, ...all } = await opened(peer, id);
  await pause(ms);
  await db.close();
  return { value: all.ms, details: { 'of that open, ms': openMs } };
}

const early = async (peer: Peer, setting: Setting): Promise<Samples> => ({
  'open-early': await openFor(peer, setting, STAY_MS),
});

const kept = async (peer: Peer, setting: Setting): Promise<Samples> => ({
  'open-kept': await openFor(peer, setting, 0),
});

export const START: Suite = {
  name: 'start',
  cases: [
    {
      name: 'open-early',
      title: 'open + first get in a page just loaded, before the browser has kept compiled code',
      unit: 'ms',
    },
    {
      name: 'open-kept',
      title: 'the same in the next page, when the browser had 3.5 seconds to keep it',
      unit: 'ms',
    },
  ],
  contestants: [HEDGEROW, SLIM, ...PEERS.filter(({ name }) => name === 'Dexie')].map((peer) =>
    contestantOf(peer, [fill, early, kept]),
  ),
};
