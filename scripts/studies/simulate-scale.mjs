// Simulates how sync scales by one bucket: a model of up to 10,000 devices (`scripts/lib/scale-model.mjs`), by a seed.
// Prints the figures of docs/sync.md: swaps, polls, bytes, costs, and the time until a change is seen.
//
//     node scripts/studies/simulate-scale.mjs [--minutes 10] [--seed 1] [--json]

import { parseArgs } from 'node:util';
import { costOf, simulateScale } from '../lib/scale-model.mjs';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string', default: '1' },
    json: { type: 'boolean', default: false },
  },
});
const base = { minutes: Number(values.minutes), seed: Number(values.seed) };

/**
 * Assumptions: list prices in dollars from the vendors' pages in 2025, without free amounts and discounts. Amazon S3
 * Standard, us-east-1: 0.005 per 1,000 PUT and LIST, 0.0004 per 1,000 GET, 0.09 a GB to the internet. Cloudflare R2
 * Standard: 4.50 per million of class A, 0.36 per million of class B, outgoing traffic is free.
 */
const PRICES = {
  S3: { perMillionWrites: 5, perMillionReads: 0.4, perGbOut: 0.09 },
  R2: { perMillionWrites: 4.5, perMillionReads: 0.36, perGbOut: 0 },
};

/**
 * Open devices, the writers among them, and how they write. Each writer has a burst of edits about every five minutes.
 */
const CASES = [
  ['1 device', { open: 1, writers: 1 }],
  ['100', { open: 100, writers: 100 }],
  ['100, poked', { open: 100, writers: 100, pokes: true }],
  ['10,000, of which 1 writes', { open: 10_000, writers: 1 }],
  ['10,000, of which 100 write', { open: 10_000, writers: 100 }],
  ['10,000, of which 100 write, poked', { open: 10_000, writers: 100, pokes: true }],
  ['10,000 that write', { open: 10_000, writers: 10_000 }],
  ['10,000 in 1,000 branches', { open: 10_000, writers: 10_000, branches: 1000 }],
];
/** The limit of one branch: more and more writers. */
const WRITERS = [50, 100, 150, 200, 250, 300, 400];

const seconds = (ms) => (ms === undefined ? '-' : `${(ms / 1000).toFixed(1)} s`);
const whole = (number) => Math.round(number).toLocaleString('en');

function rowOf(name, run) {
  const perSecond = (count) =>
    (count / run.minutes / 60).toFixed(count / run.minutes < 600 ? 2 : 0);
  return {
    name,
    'pushes a minute': (run.pushes / run.minutes).toFixed(1),
    'swaps lost or refused': `${Math.round((100 * (run.lost + run.refused)) / Math.max(1, run.swaps))} %`,
    'commits that wait at the end': run.pending,
    'pushed after': `${seconds(run.pushed.half)} / ${seconds(run.pushed.most)}`,
    'seen after': `${seconds(run.seen.half)} / ${seconds(run.seen.most)}`,
    'reads a second': perSecond(run.reads),
    'of which 304': `${Math.round((100 * run.unchanged) / Math.max(1, run.reads))} %`,
    'MB received a minute': (run.receivedBytes / run.minutes / 1e6).toFixed(2),
    'dollars a month, S3 / R2': `${whole(costOf(run, PRICES.S3))} / ${whole(costOf(run, PRICES.R2))}`,
  };
}

function print(rows) {
  if (values.json) {
    console.log(JSON.stringify(rows));
    return;
  }
  const names = Object.keys(rows[0]);
  console.log(`| ${names.join(' | ')} |`);
  console.log(`|${names.map(() => '---').join('|')}|`);
  for (const row of rows) console.log(`| ${names.map((name) => row[name]).join(' | ')} |`);
  console.log('');
}

print(CASES.map(([name, options]) => rowOf(name, simulateScale({ ...base, ...options }))));
print(
  WRITERS.map((writers) =>
    rowOf(`${writers} writers`, simulateScale({ ...base, open: writers, writers })),
  ),
);
