/** Measures how alive the page is during a load, for `frames`, here and in the browser of a visitor. */
import type { Samples, Setting } from '../bench-case.js';
import { longTask, timed, watched } from '../measure.js';
import { type Peer, RELAXED, within } from '../peers/database.js';
import { makeRows, type Row } from '../rows.js';
import type { PeerAct } from './contestants.js';

/** The further figure with the time of the watched load. */
export const WATCHED_LOAD = 'load with frames watched, ms';

/** Loads all rows in an order, and samples the longest gap between frames under `name`. */
export function watchedLoad(name: string, order: (rows: Row[]) => readonly Row[]): PeerAct {
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
          details: { ...longTask(watch), [WATCHED_LOAD]: watch.result },
        },
      };
    });
  };
}
