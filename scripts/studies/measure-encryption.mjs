// Compares encrypted stores with plain ones, in Node over SQLite: `node scripts/studies/measure-encryption.mjs [--rows 100000]
// [--rounds 5]`. Both take turns in each round, in their own files. Prints medians, and the medians of the ratios
// within a round: the machine's other work was much the same for both then. The second ratio compares this process's
// time on all processors, which is more reliable while other programs work.

import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { open } from '../../js/hedgerow/dist/index.js';
import { atRest } from '../../js/hedgerow/dist/sync/encryption/index.js';
import { sqlite } from '../../js/sqlite/dist/index.js';
import { refuseDevBuild } from '../lib/dev-build.mjs';
import { median } from '../lib/measured.mjs';

refuseDevBuild();

function option(name, otherwise) {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? otherwise : Number(process.argv[at + 1]);
}
const count = option('rows', 100_000);
const rounds = option('rounds', 5);

const keyOf = (index) => `issue/${String(index).padStart(8, '0')}`;
function* rows() {
  for (let index = 0; index < count; index++) {
    const id = keyOf(index);
    const title = `The quick brown fox jumps over issue ${index}`;
    yield [id, { id, title, status: 'open', owner: `user${index % 97}`, modified: 1.7e12 + index }];
  }
}

/** Returns keys all over the store, always the same. */
const some = (most) => Array.from({ length: most }, (_, at) => keyOf((at * 7919) % count));

async function timed(work) {
  const [startMs, before] = [performance.now(), process.cpuUsage()];
  await work();
  const { user, system } = process.cpuUsage(before);
  return { ms: performance.now() - startMs, cpuMs: (user + system) / 1000 };
}

async function scanned(db) {
  let seen = 0;
  for await (const _ of db.scan()) seen += 1;
  if (seen !== count) throw new Error(`${seen} rows of ${count}`);
}

async function got(db, keys) {
  for (const key of keys) if ((await db.get(key))?.id !== key) throw new Error(`no ${key}`);
}

/** Measures each case with one store, in milliseconds. */
async function measured(folder, encryption) {
  const storage = sqlite({ location: folder });
  const options = { storage, ...(encryption && { encryption }) };
  const times = {};
  const db = await open('rows', options);
  times.load = await timed(() => db.putMany(rows()));
  await scanned(db);
  times['scan, warm'] = await timed(() => scanned(db));
  const keys = some(2000);
  await got(db, keys);
  times['2,000 get, warm'] = await timed(() => got(db, keys));
  await db.close();
  for (const [name, work] of [
    ['scan, cold', scanned],
    ['500 get, cold', (cold) => got(cold, some(500))],
    ['getMany of 1,000, cold', (cold) => cold.getMany(some(1000))],
  ]) {
    const cold = await open('rows', options);
    times[name] = await timed(() => work(cold));
    await cold.close();
  }
  let again;
  times['open, and the first get'] = await timed(async () => {
    again = await open('rows', options);
    await again.get(keyOf(7));
  });
  times['200 put'] = await timed(async () => {
    for (const key of some(200)) await again.put(key, { id: key, isNew: true });
  });
  await again.close();
  const files = readdirSync(folder).filter((name) => name.includes('.sqlite'));
  const bytes = files.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  return { ...times, bytes: { ms: bytes, cpuMs: bytes } };
}

const encryption = atRest({ key: crypto.getRandomValues(new Uint8Array(32)) });
const results = [];
for (let round = 0; round <= rounds; round++) {
  const result = {};
  const order = [['plain'], ['encrypted', encryption]];
  for (const [name, how] of round % 2 === 0 ? order : order.reverse()) {
    const folder = mkdtempSync(join(tmpdir(), 'hedgerow-encryption-'));
    try {
      result[name] = await measured(folder, how);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
  // The first round warms up.
  if (round > 0) results.push(result);
}

console.log(`${count} rows, ${rounds} rounds, SQLite in Node ${process.version}; milliseconds`);
for (const name of Object.keys(results[0].plain)) {
  const shown = ['plain', 'encrypted'].map((how) => {
    const value = median(results.map((result) => result[how][name].ms));
    return value.toFixed(name === 'bytes' ? 0 : 1).padStart(12);
  });
  const ratios = ['ms', 'cpuMs'].map((unit) => {
    const all = results.map(({ plain, encrypted }) => encrypted[name][unit] / plain[name][unit]);
    return `${median(all).toFixed(3).padStart(8)} x`;
  });
  console.log(name.padEnd(26) + shown.join('') + ratios.join(''));
}
