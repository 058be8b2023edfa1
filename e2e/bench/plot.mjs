// `node e2e/bench/plot.mjs`: draws `results/latest.json` as bars, into `docs/plots/`. One
// file for each case with peers; log axes, since an order of magnitude lies between them.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';

const RESULTS = new URL('results/latest.json', import.meta.url);
const PLOTS = new URL('../../docs/plots/', import.meta.url);
const [WIDTH, LEFT, RIGHT, ROW, TOP] = [760, 220, 90, 34, 54];

const escaped = (text) => text.replace(/[&<>]/g, (char) => `&#${char.charCodeAt(0)};`);
const shown = (value) =>
  value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(3);

function plot({ title, unit, ours, peers, floor }) {
  const bars = [ours, ...(floor ? [floor] : []), ...peers].filter(({ median }) => median > 0);
  const values = bars.map(({ median }) => median);
  const [low, high] = [Math.min(...values) / 2, Math.max(...values)];
  const span = Math.log(high / low);
  const length = (value) => (Math.log(value / low) / span) * (WIDTH - LEFT - RIGHT);
  const rows = bars.map(({ name, median, min, max }, index) => {
    const y = TOP + index * ROW;
    const [from, to] = [LEFT + length(min), LEFT + length(max)];
    return `
  <text x="${LEFT - 12}" y="${y + 15}" text-anchor="end" class="name">${escaped(name)}</text>
  <rect x="${LEFT}" y="${y}" width="${length(median).toFixed(1)}" height="20" rx="4" class="${index === 0 ? 'ours' : 'other'}"/>
  <path d="M${from.toFixed(1)} ${y + 10}H${to.toFixed(1)}" class="spread"/>
  <text x="${(to + 10).toFixed(1)}" y="${y + 15}" class="value">${shown(median)}</text>`;
  });
  const height = TOP + bars.length * ROW + 10;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="system-ui, sans-serif" font-size="14" role="img">
  <title>${escaped(title)}: ${bars.map(({ name, median }) => `${escaped(name)} ${shown(median)}`).join(', ')}</title>
  <style>
    .title { font-weight: 600; fill: #24402f } .unit { fill: #6b7a6e; font-size: 12px }
    .name, .value { fill: #33463a } .ours { fill: #3f7d4e } .other { fill: #c9b98a }
    .spread { stroke: #24402f; stroke-width: 1.5; opacity: 0.6 }
    @media (prefers-color-scheme: dark) {
      .title, .name, .value { fill: #dfe8dc } .unit { fill: #9fb0a2 } .spread { stroke: #f3f6ef }
      .ours { fill: #6fb37e } .other { fill: #8c8060 }
    }
  </style>
  <text x="0" y="18" class="title">${escaped(title)}</text>
  <text x="0" y="37" class="unit">${escaped(unit)}, median with least and most; log scale; ${unit === 'ms' ? 'shorter' : 'longer'} is better</text>${rows.join('')}
</svg>
`;
}

mkdirSync(PLOTS, { recursive: true });
for (const result of JSON.parse(readFileSync(RESULTS, 'utf8')).cases) {
  if (result.peers.length === 0) continue;
  writeFileSync(new URL(`${result.name}.svg`, PLOTS), plot(result));
  console.log(`docs/plots/${result.name}.svg`);
}
