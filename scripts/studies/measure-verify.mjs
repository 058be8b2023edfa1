// Compares the time of `db.health.verify()` with the time of a scan of the same rows, both cold, in Node and in memory: `node
// scripts/studies/measure-verify.mjs [--rows 100000]`. Rounds alternate. Prints medians.

import { memory, open } from '../../js/hedgerow/dist/index.js';
import { refuseDevBuild } from '../lib/dev-build.mjs';

refuseDevBuild();

const at = process.argv.indexOf('--rows');
const count = at < 0 ? 100_000 : Number(process.argv[at + 1]);
const ROUNDS = 5;

function* rows() {
  for (let index = 0; index < count; index++) {
    const id = `issue/${String(index).padStart(8, '0')}`;
    const title = `The quick brown fox jumps over issue ${index}`;
    const owner = `user${index % 97}`;
    yield [id, { id, title, status: 'open', owner, modified: 1_700_000_000_000 + index }];
  }
}

const storage = memory();
const filled = await open('rows', { storage });
await filled.putMany(rows());
await filled.close();

/** Times `work` on a handle with an empty cache, in milliseconds. */
async function cold(work) {
  const db = await open('rows', { storage });
  const start = performance.now();
  const result = await work(db);
  const ms = performance.now() - start;
  await db.close();
  return { ms, result };
}

const times = { scan: [], verify: [] };
for (let round = 0; round < ROUNDS; round++) {
  const scan = await cold(async (db) => {
    let seen = 0;
    for await (const _ of db.scan()) seen++;
    return seen;
  });
  const verify = await cold((db) => db.health.verify());
  if (scan.result !== count || !verify.result.ok || verify.result.rows !== count) {
    throw new Error('rows are missing');
  }
  times.scan.push(scan.ms);
  times.verify.push(verify.ms);
}

const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];
const [scan, verify] = [median(times.scan), median(times.verify)];
console.log(
  `${count} rows: scan ${scan.toFixed(0)} ms, verify ${verify.toFixed(0)} ms, ratio ${(verify / scan).toFixed(2)}`,
);
