/** How alive the page is during a load. In samples of their own: frames are work too. */
import type { Samples, Setting, Suite } from '../bench-case.js';
import { longTask, timed, watched } from '../measure.js';
import { type Peer, RELAXED, within } from '../peers/database.js';
import { HEDGEROW } from '../peers/index.js';
import { makeRows, type Row, shuffled } from '../rows.js';
import { contestantOf, everyone, type PeerAct } from './contestants.js';

function framesOf(name: string, order: (rows: Row[]) => readonly Row[]): PeerAct {
  return async (peer: Peer, setting: Setting): Promise<Samples> => {
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
            ...longTask(watch),
            'load with frames watched, ms': watch.result,
          },
        },
      };
    });
  };
}

export const FRAMES: Suite = {
  name: 'frames',
  cases: [
    {
      name: 'frames',
      title: 'longest gap between two frames during the load (and until it is stored)',
      unit: 'ms',
    },
  ],
  contestants: everyone([framesOf('frames', (rows) => rows)]),
};

/** Of ours alone: the order of the rows is nothing to the page of the others. */
export const FRAMES_SHUFFLED: Suite = {
  name: 'frames-shuffled',
  cases: [{ name: 'frames-shuffled', title: 'the same with the rows shuffled', unit: 'ms' }],
  contestants: [contestantOf(HEDGEROW, [framesOf('frames-shuffled', shuffled)])],
};
