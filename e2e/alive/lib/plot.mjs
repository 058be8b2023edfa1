// Draws how long each probe waited: one strip for each scenario, on one log axis.

import { show } from './report.mjs';

const PROBES = [
  ['frame', 'Frame to frame', '16.7 ms at 60 frames a second'],
  ['timer', 'setTimeout(0)', 'late by'],
  ['message', 'Message of a worker', 'one every 5 ms'],
  ['fetch', 'fetch', 'of a small local file'],
  ['database', 'IndexedDB get', 'on another database'],
  ['click', 'Click', 'to its handler'],
];
const [WIDTH, LEFT, RIGHT, TOP] = [880, 180, 190, 118];
const [STRIP, GAP] = [15, 24];
const [LOW, HIGH] = [0.1, 1500];
const [SPAN, SLICE_MS] = [WIDTH - LEFT - RIGHT, 8];

const escaped = (text) => text.replace(/[&<>]/g, (char) => `&#${char.charCodeAt(0)};`);
const at = (ms) =>
  LEFT + (Math.log(Math.min(HIGH, Math.max(LOW, ms)) / LOW) / Math.log(HIGH / LOW)) * SPAN;
const x = (ms) => at(ms).toFixed(1);

const STYLE = `
    .title { font-weight: 600; font-size: 16px; fill: #24402f } .note, .tick { fill: #6b7a6e; font-size: 12px }
    .name { font-weight: 600; fill: #33463a } .value { fill: #4b5d51; font-size: 11px; font-variant-numeric: tabular-nums }
    .grid { stroke: #24402f; stroke-opacity: 0.13 } .slice { stroke: #3f7d4e; stroke-dasharray: 3 3 }
    .slice-name { fill: #2f6b3f; font-size: 12px }
    .idle { color: #8b978d } .sliced { color: #3f7d4e } .blocks { color: #6d9b2f } .stores { color: #1f7a8c } .unsliced { color: #c2622d }
    @media (prefers-color-scheme: dark) {
      .title, .name { fill: #dfe8dc } .note, .tick { fill: #9fb0a2 } .value { fill: #b9c7ba }
      .grid { stroke: #dfe8dc; stroke-opacity: 0.16 } .slice { stroke: #8fd09c } .slice-name { fill: #8fd09c }
      .idle { color: #98a59a } .sliced { color: #6fc383 } .blocks { color: #b3d562 } .stores { color: #5cc2d6 } .unsliced { color: #f0965e }
    }`;

/** Dots are medians; thick bars hold 80 of 100 delays; a tick is p99, a ring the longest. */
function strip({ p50, p99, max, percentiles }, className, y) {
  const [low, high] = [percentiles[10], percentiles[90]];
  return `
  <g class="${className}" stroke="currentColor" fill="currentColor">
    <path d="M${x(percentiles[1])} ${y}H${x(max)}" stroke-width="1.3" stroke-opacity="0.7"/>
    <path d="M${x(low)} ${y}H${(at(high) + 0.1).toFixed(1)}" stroke-width="7" stroke-linecap="round" stroke-opacity="0.32"/>
    <path d="M${x(p99)} ${y - 5}v10" stroke-width="2"/>
    <circle cx="${x(max)}" cy="${y}" r="2.6" stroke-width="1.4" fill-opacity="0.15"/>
    <circle cx="${x(p50)}" cy="${y}" r="3.6" stroke="none"/>
  </g>
  <text x="${WIDTH - RIGHT + 24}" y="${y + 4}" class="value">${show(p50)} / ${show(p99)} / ${show(max)}</text>`;
}

function legend(scenarios) {
  let [left, row] = [0, 0];
  return scenarios.map(({ name, title }) => {
    const width = 26 + title.length * 6.7;
    if (left + width > WIDTH) [left, row] = [0, row + 1];
    const y = 64 + row * 19;
    const item = `
  <g class="${name}"><circle cx="${(left + 5).toFixed(1)}" cy="${y - 4}" r="4.5" fill="currentColor"/></g>
  <text x="${(left + 15).toFixed(1)}" y="${y}" class="note">${escaped(title)}</text>`;
    left += width;
    return item;
  });
}

/** Draws the plot as the text of an SVG file. */
export function draw({ scenarios }) {
  const block = scenarios.length * STRIP + GAP;
  const bottom = TOP + PROBES.length * block - GAP + 6;
  const ticks = [0.1, 1, 10, 100, 1000].map(
    (ms) => `
  <path d="M${x(ms)} ${TOP - 10}V${bottom}" class="grid"/>
  <text x="${x(ms)}" y="${bottom + 18}" text-anchor="middle" class="tick">${ms} ms</text>`,
  );
  const probes = PROBES.map(([probe, title, note], index) => {
    const top = TOP + index * block;
    const strips = scenarios.map(({ name, probes: seen }, line) =>
      seen[probe] === null ? '' : strip(seen[probe], name, top + line * STRIP + 4),
    );
    return `
  <text x="0" y="${top + 22}" class="name">${escaped(title)}</text>
  <text x="0" y="${top + 39}" class="note">${escaped(note)}</text>${strips.join('')}`;
  });
  const told = PROBES.map(([probe, title]) => {
    const all = scenarios.map(({ name, probes: seen }) => `${name} ${show(seen[probe]?.p50 ?? 0)}`);
    return `${title}, medians: ${all.join(', ')}`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${bottom + 34}" font-family="system-ui, sans-serif" font-size="14" role="img">
  <title>${escaped(told.join('; '))}</title>
  <style>${STYLE}
  </style>
  <text x="0" y="18" class="title">How long a page waits while rows are loaded</text>
  <text x="0" y="38" class="note">Dot: median. Thick: 80 of 100. Tick: p99. Ring: longest. Log scale, in ms; numbers are p50 / p99 / max.</text>${legend(scenarios).join('')}${ticks.join('')}
  <path d="M${x(SLICE_MS)} ${TOP - 10}V${bottom}" class="slice"/>
  <text x="${x(SLICE_MS)}" y="${TOP - 16}" text-anchor="middle" class="slice-name">one slice, 8 ms</text>${probes.join('')}
</svg>
`;
}
