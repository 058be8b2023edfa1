/** What `run.mjs` calls in the page. */
import type { BenchCase, Contestant, Sample, Setting } from './bench-case.js';
import { CASES } from './cases/index.js';
import { settle } from './measure.js';
import { deleteDatabases } from './peers/databases.js';
import { makeRows } from './rows.js';

function find(caseName: string, contestantName: string): Contestant {
  const found = CASES.find(({ name }) => name === caseName);
  const contestant = found?.contestants.find(({ name }) => name === contestantName);
  if (contestant === undefined) throw new Error(`no ${contestantName} in ${caseName}`);
  return contestant;
}

const calls = {
  /** The cases, without their functions. */
  describe: () =>
    CASES.map(({ contestants, ...rest }: BenchCase) => ({
      ...rest,
      contestants: contestants.map(({ name, kind }) => ({ name, kind })),
    })),

  prepare: async (caseName: string, contestant: string, setting: Setting): Promise<void> => {
    await find(caseName, contestant).prepare?.(setting);
  },

  sample: (caseName: string, contestant: string, setting: Setting): Promise<Sample> =>
    find(caseName, contestant).sample(setting),

  clear: async (): Promise<void> => {
    await deleteDatabases();
    await settle();
  },

  /** Bytes of JSON in a row, on average. */
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
