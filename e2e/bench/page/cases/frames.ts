/** Measures how alive the page is during a load, in separate samples: frames are work too. */
import type { Suite } from '../bench-case.js';
import { HEDGEROW } from '../peers/index.js';
import { shuffled } from '../rows.js';
import { contestantOf, everyone } from './contestants.js';
import { watchedLoad } from './watched-load.js';

export const FRAMES: Suite = {
  name: 'frames',
  cases: [
    {
      name: 'frames',
      title: 'longest gap between two frames during the load (and until it is stored)',
      unit: 'ms',
    },
  ],
  contestants: everyone([watchedLoad('frames', (rows) => rows)]),
};

/** Ours alone: for the other peers' pages the order of the rows does not matter. */
export const FRAMES_SHUFFLED: Suite = {
  name: 'frames-shuffled',
  cases: [{ name: 'frames-shuffled', title: 'the same with the rows shuffled', unit: 'ms' }],
  contestants: [contestantOf(HEDGEROW, [watchedLoad('frames-shuffled', shuffled)])],
};
