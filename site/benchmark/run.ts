/** Runs all contestants, one after the other, by the cases of `npm run bench`. */

import { version } from 'hedgerow/package.json';
import { secondVisit } from '../../e2e/bench/page/cases/life-second.js';
import { WATCHED_LOAD, watchedLoad } from '../../e2e/bench/page/cases/watched-load.js';
import { type Peer, RELAXED, within } from '../../e2e/bench/page/peers/database.js';
import { thisDevice } from '../lib/device.js';
import { CONTESTANTS, clean, countOf, settingOf, type VisitorContestant } from './contestants.js';
import type { ContestantId, Figures, Report } from './report.js';

/** The phases of a contestant: its rows are made, the page comes to rest, then the measurements follow. */
export type Phase = 'rows' | 'rest' | 'load' | 'loaded' | 'reads' | 'done';

export interface RunOptions {
  readonly rows: number;
  /** Checked between contestants and their parts: a load under way is not cut off. */
  readonly signal: AbortSignal;
  readonly onPhase: (id: ContestantId, phase: Phase) => void;
  readonly onFigures: (figures: Figures) => void;
}

const load = watchedLoad('frames', (rows) => rows);

/** Rounds to the shown digits, so that a link has the figures of the page. */
const rounded = (value: number) => Number(value.toPrecision(4));

/** Wraps the peer, to report when its database is open, and when it begins and ends to load. */
function told(peer: Peer, tell: (phase: Phase) => void): Peer {
  return {
    ...peer,
    open: async (setting) => {
      const db = await peer.open(setting);
      tell('rest');
      return {
        ...db,
        load: async (rows) => {
          tell('load');
          const further = await db.load(rows);
          tell('loaded');
          return further;
        },
      };
    },
  };
}

async function measure({ id, peer }: VisitorContestant, options: RunOptions): Promise<Figures> {
  const { rows, signal, onPhase } = options;
  await clean();
  const tell = (phase: Phase) => onPhase(id, phase);
  tell('rows');
  const { frames } = await load(told(peer, tell), settingOf(rows, ['frames']));
  const loadMs = frames?.details?.[WATCHED_LOAD];
  if (frames === undefined || loadMs === undefined) throw new Error('the load was not measured');
  const stored = await within(peer, RELAXED, countOf);
  const loaded = {
    id,
    rows: stored,
    loadMs: rounded(loadMs),
    gapMs: rounded(frames.value),
  };
  signal.throwIfAborted();
  // With fewer rows its reads would be compared with other contestants' reads.
  if (stored < rows) return loaded;
  tell('reads');
  const { get, scan } = await secondVisit(peer, settingOf(rows, ['get', 'scan']));
  return {
    ...loaded,
    ...(get && { gets: rounded(get.value) }),
    ...(scan && { scanMs: rounded(scan.value) }),
  };
}

/** Returns the figures of a contestant, or its failure, so that the others go on. Rejects when the signal aborts. */
async function figuresOf(contestant: VisitorContestant, options: RunOptions): Promise<Figures> {
  try {
    return await measure(contestant, options);
  } catch (cause) {
    options.signal.throwIfAborted();
    const failed = String(cause).slice(0, 200);
    return { id: contestant.id, rows: 0, failed };
  }
}

export async function runAll(options: RunOptions): Promise<Report> {
  const { rows, signal, onPhase, onFigures } = options;
  const { Dexie } = await import('dexie');
  const figures: Figures[] = [];
  let wasHidden = document.hidden;
  const hide = () => {
    wasHidden ||= document.hidden;
  };
  document.addEventListener('visibilitychange', hide);
  try {
    for (const contestant of CONTESTANTS) {
      signal.throwIfAborted();
      const found = await figuresOf(contestant, options);
      figures.push(found);
      onFigures(found);
      onPhase(contestant.id, 'done');
    }
  } finally {
    document.removeEventListener('visibilitychange', hide);
    await clean();
  }
  return {
    rows,
    date: new Date().toISOString().slice(0, 10),
    versions: { hedgerow: version, dexie: Dexie.semVer },
    device: thisDevice(),
    figures,
    ...(wasHidden && { wasHidden }),
  };
}
