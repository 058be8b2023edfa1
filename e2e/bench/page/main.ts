/** The functions that `run.mjs` calls in the page. */
import type { Contestant, Samples, Setting, Suite } from './bench-case.js';
import { SUITES } from './cases/index.js';
import { openIndexedDb, settled } from './peers/raw.js';
import { commitTimes, recordTimes } from './records.js';
import { makeRows } from './rows.js';

function find(suiteName: string, contestantName: string): Contestant {
  const found = SUITES.find(({ name }) => name === suiteName);
  const contestant = found?.contestants.find(({ name }) => name === contestantName);
  if (contestant === undefined) throw new Error(`no ${contestantName} in ${suiteName}`);
  return contestant;
}

async function deleteDatabase(name: string): Promise<void> {
  // WebKit lists an unfinished database, too, and deletes it like any other.
  await settled(indexedDB.deleteDatabase(name));
}

const calls = {
  commitTimes,
  recordTimes,

  /** Describes the suites, without their functions. */
  describe: () =>
    SUITES.map(({ contestants, ...rest }: Suite) => ({
      ...rest,
      contestants: contestants.map(({ acts, ...contestant }) => ({
        ...contestant,
        acts: acts.length,
      })),
    })),

  act: (suite: string, contestant: string, at: number, setting: Setting): Promise<Samples> => {
    const act = find(suite, contestant).acts[at];
    if (act === undefined) throw new Error(`${contestant} has no act ${at}`);
    return act(setting);
  },

  /** Leaves a database whose files show the backend of IndexedDB. */
  leaveDatabase: async (): Promise<void> => (await openIndexedDb()).close(),

  /** Deletes all data of this origin, where the runner has no command for it. */
  wipe: async (): Promise<void> => {
    for (const { name } of await indexedDB.databases()) await deleteDatabase(name ?? '');
    if (typeof navigator.storage?.getDirectory !== 'function') return;
    const root = await navigator.storage.getDirectory();
    const names: string[] = [];
    for await (const name of root.keys()) names.push(name);
    for (const name of names) await root.removeEntry(name, { recursive: true });
  },

  /** Returns the average JSON bytes of a row. */
  rowBytes: (rows: number): number => {
    const text = makeRows(rows).map((row) => JSON.stringify(row));
    const encoder = new TextEncoder();
    return text.reduce((sum, row) => sum + encoder.encode(row).length, 0) / rows;
  },
};

declare global {
  var bench: Bench;
}
type Bench = typeof calls;

globalThis.bench = calls;
