/** How alive the page is during a load. In samples of their own: frames are work too. */
import type { Samples, Setting, Suite } from '../bench-case.js';
import { timed, watched } from '../measure.js';
import { type Peer, RELAXED, within } from '../peers/database.js';
import { makeRows, type Row, shuffled } from '../rows.js';
import { everyone } from './contestants.js';

function frames(name: string, title: string, order: (rows: Row[]) => readonly Row[]): Suite {
  const act = async (peer: Peer, setting: Setting): Promise<Samples> => {
    const rows = order(makeRows(setting.rows));
    return within(peer, RELAXED, async (db): Promise<Samples> => {
      const { result: watch } = await timed(() =>
        watched(async () => {
          const startMs = performance.now();
          await db.load(rows);
          const loadMs = performance.now() - startMs;
          await db.persisted?.();
          return loadMs;
        }),
      );
      return {
        [name]: {
          value: watch.frameGapMs,
          details: {
            'longest task of 50 ms or more, ms': watch.longTaskMs,
            'load with frames watched, ms': watch.result,
          },
        },
      };
    });
  };
  return { name, cases: [{ name, title, unit: 'ms' }], contestants: everyone([act]) };
}

export const FRAMES = frames(
  'frames',
  'longest gap between two frames during the load (and until it is stored)',
  (rows) => rows,
);
export const FRAMES_SHUFFLED = frames(
  'frames-shuffled',
  'the same with the rows shuffled',
  shuffled,
);
