// `node e2e/bench/first-row/run.mjs`: the time from a navigation to the first row on the screen, and to the answer of a
// write that follows. Each contestant has a page of its own, as an app would bundle it, and a database of 100,000 rows.
// All take turns in each round. A cold visit loads all files from the server; a warm one has them in the browser's
// cache. The slow network is made by the server, and the slow processor by Chromium (`--engines` runs others without
// it). With `--hint`, each contestant has a second page, whose first files ask Chromium to compile all of their functions.

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { refuseDevBuild } from '../../../scripts/lib/dev-build.mjs';
import { engineNames, whole } from '../../lib/arguments.mjs';
import { enginesOf, installed } from '../../lib/engines/index.mjs';
import { pause, within } from '../../lib/engines/limits.mjs';
import { machine } from '../lib/environment.mjs';
import { buildPage } from './build.mjs';
import { openPage } from './page.mjs';
import { NETWORKS, PageServer } from './server.mjs';
import { printTable } from './table.mjs';

const CACHE = fileURLToPath(new URL('../../../.cache/', import.meta.url));
const RESULTS = fileURLToPath(new URL('../results/', import.meta.url));
const CONTESTANTS = ['hedgerow', 'dexie', 'idb', 'replicache', 'sqlite'];
const USAGE =
  'node e2e/bench/first-row/run.mjs [--rows 100000] [--rounds 5] [--engines all] [--only hedgerow,dexie] [--hint]';
const CALL_MS = 300_000;
const POLL_MS = 20;
/** Between two visits, so that the last page has closed its database. */
const REST_MS = 300;
/** Visits after which a browser has files, and compiled code, in its caches. */
const WARMING_VISITS = 3;

/** The ways to visit, by the slowdown of the processor, the network and the cache. */
const WAYS = [
  { cpu: 1, network: 'fast', cache: 'cold' },
  { cpu: 1, network: 'fast', cache: 'warm' },
  { cpu: 1, network: 'slow', cache: 'cold' },
  { cpu: 4, network: 'slow', cache: 'cold' },
  { cpu: 4, network: 'slow', cache: 'warm' },
  { cpu: 6, network: 'slow', cache: 'cold' },
  { cpu: 6, network: 'slow', cache: 'warm' },
];

const nameOf = ({ cpu, network, cache }) => `${cpu} x, ${network}, ${cache}`;

/** A contestant that cannot take part in a browser throws at its first visit. */
async function visit(page, url) {
  await page.goto('about:blank');
  await pause(REST_MS);
  await page.goto(url);
  const isDone = async () => {
    for (;;) {
      const visited = await page.evaluate(() => globalThis.visit);
      if (visited?.isDone === true) return visited;
      await pause(POLL_MS);
    }
  };
  const { error, ...figures } = await within(CALL_MS, url, isDone());
  if (error !== undefined) throw new Error(error);
  return figures;
}

/** Makes the visits of one engine; returns the figures by way and contestant, and the reasons of the others. */
async function visits(engine, page, { server, port, rows, rounds, names }) {
  const failed = {};
  const urlOf = (name, version, act) =>
    `http://${name}.localhost:${port}/${version}/index.html${act}`;
  for (const name of names) {
    console.log(`${engine}: ${name} takes ${rows} rows`);
    server.network = NETWORKS.fast;
    await visit(page, urlOf(name, 'fill', `#fill=${rows}`)).catch((cause) => {
      failed[name] = String(cause.message).split('\n')[0];
    });
  }
  const taking = names.filter((name) => failed[name] === undefined);
  const ways = WAYS.filter(({ cpu }) => cpu === 1 || page.throttle !== undefined);
  const samples = [];
  let version = 0;
  for (let round = 0; round < rounds; round++) {
    const turned = [
      ...taking.slice(round % taking.length),
      ...taking.slice(0, round % taking.length),
    ];
    const key = `issue/${String((round * 7919) % rows).padStart(8, '0')}`;
    for (const way of ways) {
      for (const name of round % 2 === 0 ? turned : turned.reverse()) {
        version += 1;
        server.network = NETWORKS.fast;
        const warming = way.cache === 'warm' ? WARMING_VISITS : 0;
        for (let nth = 0; nth < warming; nth++)
          await visit(page, urlOf(name, version, `#write=${key}`));
        server.network = NETWORKS[way.network];
        await page.throttle?.(way.cpu);
        server.takeBytes();
        const figures = await visit(page, urlOf(name, version, `#write=${key}`));
        await page.throttle?.(1);
        samples.push({ way: nameOf(way), name, round, ...figures, bytes: server.takeBytes() });
        console.log(
          `${engine}, round ${round + 1} of ${rounds}, ${nameOf(way)}, ${name}: ${figures.drawnMs?.toFixed(1)} ms`,
        );
      }
    }
  }
  return { samples, failed };
}

async function runIn(engine, options) {
  const profiles = join(CACHE, 'profiles');
  await mkdir(profiles, { recursive: true });
  const profileDir = await mkdtemp(join(profiles, 'first-row-'));
  const { name } = engine;
  const page = await openPage(engine, profileDir);
  try {
    const { samples, failed } = await visits(name, page, options);
    printTable(name, samples, failed);
    const at = new Date().toISOString();
    const report = { engine: name, at, machine: machine(), rows: options.rows, samples, failed };
    await mkdir(RESULTS, { recursive: true });
    await writeFile(
      join(RESULTS, `first-row-${name}.json`),
      `${JSON.stringify(report, null, 2)}\n`,
    );
  } finally {
    await page.close();
    await rm(profileDir, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function main() {
  const { values } = parseArgs({
    options: {
      rows: { type: 'string', default: '100000' },
      rounds: { type: 'string', default: '5' },
      engines: { type: 'string', default: 'chromium' },
      only: { type: 'string', default: CONTESTANTS.join(',') },
      hint: { type: 'boolean', default: false },
    },
  });
  const names = values.only.split(',');
  const unknown = names.find((name) => !CONTESTANTS.includes(name));
  if (unknown !== undefined) throw new Error(`no contestant ${unknown}\n${USAGE}`);
  refuseDevBuild();
  const outDir = join(CACHE, 'first-row', String(process.pid));
  const pages = new Map();
  for (const name of names) {
    pages.set(name, await buildPage(name, outDir));
    if (values.hint) pages.set(`${name}-hint`, await buildPage(name, outDir, true));
  }
  const server = new PageServer(pages);
  const port = await server.listen();
  try {
    const rows = whole('--rows', values.rows, USAGE);
    const rounds = whole('--rounds', values.rounds, USAGE);
    for (const engine of installed(enginesOf(engineNames(values.engines, USAGE)))) {
      await runIn(engine, { server, port, rows, rounds, names: [...pages.keys()] });
    }
  } finally {
    await server.close();
    await rm(outDir, { recursive: true, force: true });
  }
}

await main();
