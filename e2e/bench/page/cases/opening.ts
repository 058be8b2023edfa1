/**
 * Opens stores of two sizes in pages just loaded: the cost of opening should not grow with the rows. Run it with
 * `--rows 4000000`.
 */
import type { Contestant, Samples, Setting, Suite } from '../bench-case.js';
import { pause } from '../measure.js';
import { RELAXED, within } from '../peers/database.js';
import { HEDGEROW } from '../peers/index.js';
import { type Row, randomIds, rowsInTurn } from '../rows.js';
import { opened } from './life-second.js';

/** The small store has one row for this many of the large one. */
const SMALL = 40;
/** Rows that are made, and loaded, at once. */
const BATCH = 100_000;
/** The time that the loading page stays: an idle store prepares its next opening within two seconds. */
const STAY_MS = 4000;

async function fill(rows: number): Promise<Samples> {
  await within(HEDGEROW, RELAXED, async (db) => {
    let batch: Row[] = [];
    for (const row of rowsInTurn(rows)) {
      batch.push(row);
      if (batch.length === BATCH) {
        await db.load(batch);
        batch = [];
      }
    }
    if (batch.length > 0) await db.load(batch);
    await pause(STAY_MS);
  });
  return {};
}

async function openedOnce(rows: number): Promise<Samples> {
  const [id = ''] = randomIds(1, rows, 61);
  const { db, ms, openMs } = await opened(HEDGEROW, id);
  await db.close();
  return { 'open-large': { value: ms, details: { 'of that open, ms': openMs } } };
}

/** A store with a share of the rows, and its own page that opens it. */
function withRows(name: string, kind: Contestant['kind'], share: number): Contestant {
  const count = ({ rows }: Setting) => Math.ceil(rows / share);
  return {
    name,
    kind,
    acts: [(setting) => fill(count(setting)), (setting) => openedOnce(count(setting))],
  };
}

export const OPENING: Suite = {
  name: 'open-large',
  cases: [
    {
      name: 'open-large',
      title: 'open + first get in a page just loaded, of a store that has rested after its load',
      unit: 'ms',
    },
  ],
  contestants: [
    withRows('hedgerow', 'ours', 1),
    withRows('a fortieth of the rows', 'variant', SMALL),
  ],
};
