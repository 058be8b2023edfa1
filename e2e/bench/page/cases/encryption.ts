/** Compares a store that is encrypted at rest with a plain one, each in its own pages. */
import type { Samples, Setting, Suite } from '../bench-case.js';
import { timed } from '../measure.js';
import { type Peer, RELAXED, within } from '../peers/database.js';
import { HEDGEROW } from '../peers/index.js';
import { makeRows, randomIds } from '../rows.js';
import { contestantOf } from './contestants.js';
import { loadSample } from './life-first.js';
import { perSecond, putLatency, scanPasses } from './samples.js';

const GETS = 2000;
const GETS_MS = 1500;
const MANY = 1000;
/** Its value does not affect the time. */
const KEY = new Uint8Array(32).fill(7);

const ENCRYPTED: Peer = {
  name: 'hedgerow, encrypted',
  kind: 'variant',
  inMemory: false,
  open: async ({ durability }) => {
    const [{ openHedgerow }, { atRest }] = await Promise.all([
      import('../peers/hedgerow.js'),
      import('hedgerow/encryption'),
    ]);
    return openHedgerow({ durability, encryption: atRest({ key: KEY }) });
  },
};

const load = async (peer: Peer, { rows }: Setting): Promise<Samples> => ({
  'encrypted-load': await loadSample(peer, makeRows(rows)),
});

/** Reads each key once, so that hardly any was read before. */
const coldGets = (peer: Peer, { rows }: Setting): Promise<Samples> =>
  within(peer, RELAXED, async (db) => {
    const value = await perSecond(randomIds(GETS, rows, 61), GETS_MS, (id) => db.get(id));
    return { 'encrypted-cold-get': { value } };
  });

const coldGetMany = (peer: Peer, { rows }: Setting): Promise<Samples> =>
  within(peer, RELAXED, async (db) => {
    const { ms, result } = await timed(async () => db.getMany(randomIds(MANY, rows, 62)));
    if (result.some((row) => row == null)) throw new Error('a row is not there');
    return { 'encrypted-cold-get-many': { value: ms } };
  });

/** Scans all rows: the first pass reads the storage, later ones read memory. */
const scans = (peer: Peer, { rows }: Setting): Promise<Samples> =>
  within(peer, RELAXED, async (db) => {
    const passes = await scanPasses(rows, () => db.scan({}));
    const first = passes.details?.['first after open, ms'] ?? 0;
    const ids = randomIds(GETS, rows, 63);
    await perSecond(ids, GETS_MS, (id) => db.get(id));
    const value = await perSecond(ids, GETS_MS, (id) => db.get(id));
    return {
      'encrypted-cold-scan': { value: first },
      'encrypted-scan': { value: passes.value },
      'encrypted-get': { value },
    };
  });

const puts = (peer: Peer, setting: Setting): Promise<Samples> =>
  within(peer, RELAXED, async (db) => ({
    'encrypted-put': await putLatency(setting, makeRows(setting.rows), 64, (row) => db.put(row)),
  }));

export const ENCRYPTION: Suite = {
  name: 'encryption',
  cases: [
    { name: 'encrypted-load', title: 'all rows into an empty store', unit: 'ms' },
    {
      name: 'encrypted-cold-get',
      title: 'random gets, each awaited, in a page just loaded',
      unit: 'per second',
    },
    {
      name: 'encrypted-cold-get-many',
      title: `getMany of ${MANY} random keys in a page just loaded`,
      unit: 'ms',
    },
    { name: 'encrypted-cold-scan', title: 'scan of all rows in a page just loaded', unit: 'ms' },
    { name: 'encrypted-scan', title: 'scan of all rows, read before', unit: 'ms' },
    { name: 'encrypted-get', title: 'random gets of rows read before', unit: 'per second' },
    { name: 'encrypted-put', title: 'one put, p50', unit: 'ms' },
  ],
  contestants: [HEDGEROW, ENCRYPTED].map((peer) =>
    contestantOf(peer, [load, coldGets, coldGetMany, scans, puts]),
  ),
};
