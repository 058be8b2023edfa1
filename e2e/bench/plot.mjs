// `node e2e/bench/plot.mjs [names...]` draws `results/latest.json` into `docs/plots/`: bars for each case with peers,
// curves of growth, and the sysbench ratios; or only the named ones.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { bars, curve, ratios } from './lib/charts.mjs';

const RESULTS = new URL('results/latest.json', import.meta.url);
const PLOTS = new URL('../../docs/plots/', import.meta.url);

const { cases, growth, sysbench } = JSON.parse(readFileSync(RESULTS, 'utf8'));
const plots = new Map();
for (const one of cases) {
  if (one.peers.length > 0 && !one.name.startsWith('sysbench-')) plots.set(one.name, bars(one));
}
for (const { name } of growth[0]?.cases ?? []) plots.set(`growth-${name}`, curve(growth, name));
for (const [at, pair] of (sysbench?.pairs ?? []).entries()) {
  plots.set(at === 0 ? 'sysbench-relaxed' : 'sysbench-strict', ratios(pair));
}

const wanted = process.argv.slice(2);
mkdirSync(PLOTS, { recursive: true });
for (const [name, drawn] of plots) {
  if (drawn === undefined || (wanted.length > 0 && !wanted.includes(name))) continue;
  writeFileSync(new URL(`${name}.svg`, PLOTS), drawn);
  console.log(`docs/plots/${name}.svg`);
}
