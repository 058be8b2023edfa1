// Measures the cost of records of raw IndexedDB, by their size and kind, in each engine, and of transactions with one
// small record: `docs/browsers.md` has a run.
//
//   node e2e/bench/records.mjs --engines all

import { parseArgs } from 'node:util';
import { engineNames, whole } from '../lib/arguments.mjs';
import { enginesOf, installed } from '../lib/engines/index.mjs';
import { withBrowser } from './lib/browser.mjs';
import { environment } from './lib/environment.mjs';
import { Progress } from './lib/progress.mjs';
import { printTable, show } from './lib/report.mjs';

const USAGE = `node e2e/bench/records.mjs [--engines all] [--mib 16] [--rounds 3]
  --engines  of chromium (the default), chromium-sqlite, firefox and webkit, by name; or all
  --mib      MiB that are written in one transaction
  --rounds   rounds that count, after one that does not; the median of them is printed`;
const KIB = 1024;
const SIZES = [4, 16, 64, 256, 512, 1024, 2048].map((kib) => kib * KIB);
const KINDS = ['bytes', 'Blob'];
/** Smaller Blobs take seconds to write: each is a file. */
const LEAST_BLOB = 64 * KIB;
const COLUMNS = {
  write: 'write all',
  read: 'one',
  part: '4 KiB of it',
  parts: '200 such, each',
  slice: 'kept: slice()',
  keptPart: 'kept: 4 KiB',
  keptWhole: 'kept: all',
};
/** Bytes of a commit that stores an edit and the new root, and of one that stores its chunks. */
const COMMITS = [236, 13_000];

function read(args) {
  const options = {
    engines: { type: 'string', default: 'chromium' },
    mib: { type: 'string', default: '16' },
    rounds: { type: 'string', default: '3' },
  };
  const { values } = parseArgs({ args, options });
  return {
    engines: engineNames(values.engines, USAGE),
    total: whole('--mib', values.mib, USAGE) * KIB * KIB,
    rounds: whole('--rounds', values.rounds, USAGE),
  };
}

const median = (numbers) => numbers.sort((a, b) => a - b)[numbers.length >> 1];

async function runIn(engine, { total, rounds }) {
  const progress = new Progress();
  const settings = SIZES.filter((size) => total % size === 0).flatMap((size) =>
    KINDS.filter((kind) => kind === 'bytes' || size >= LEAST_BLOB).map((kind) => ({
      kind,
      size,
      total,
    })),
  );
  const { found, commits, about } = await withBrowser({ engine }, async (browser) => {
    await browser.call('leaveDatabase');
    const samples = settings.map(() => []);
    for (let round = 0; round <= rounds; round++) {
      for (const [at, setting] of settings.entries()) {
        progress.show(
          `${engine}, round ${round} of ${rounds}, ${setting.kind}, ${setting.size / KIB} KiB`,
        );
        const times = await browser.call('recordTimes', setting);
        if (round > 0) samples[at].push(times);
      }
    }
    const commits = [];
    for (const durability of ['relaxed', 'strict']) {
      commits.push([durability, ...(await browser.call('commitTimes', COMMITS, durability))]);
    }
    return { found: samples, commits, about: await environment(browser) };
  });
  progress.clear();
  const { product, indexedDb } = about.browser;
  console.log(`\n${product}, IndexedDB on ${indexedDb}: ${total / KIB / KIB} MiB, milliseconds`);
  const rows = settings.map(({ kind, size }, at) => [
    `${kind}, ${size / KIB} KiB`,
    ...Object.keys(COLUMNS).map((name) => {
      const samples = found[at].map((times) => times[name]);
      return samples.includes(undefined) ? '-' : show(median(samples));
    }),
  ]);
  printTable(['record', ...Object.values(COLUMNS)], rows);
  console.log('\nA transaction with one record:');
  printTable(
    ['', ...COMMITS.map((bytes) => `${bytes} bytes`)],
    commits.map(([durability, ...all]) => [durability, ...all.map(show)]),
  );
}

try {
  const { engines, ...options } = read(process.argv.slice(2));
  const found = installed(enginesOf(engines));
  for (const { name } of found) await runIn(name, options);
  if (found.length < engines.length) process.exitCode = 1;
} catch (error) {
  console.error('\nrecords:', error);
  process.exitCode = 1;
}
