// Draws charts as SVG, all on log axes since orders of magnitude separate the contestants. The docs' plots and the HTML
// report share this code.

const WIDTH = 760;

export const STYLE = `
    .title { font-weight: 600 } .title, .name, .value { fill: #24402f }
    .unit, .tick { fill: #66756a; font-size: 12px } .tick { font-size: 11px }
    .grid { stroke: #dfe3da } .one { stroke: #24402f; stroke-width: 1.5 }
    .ours { fill: #3f7d4e } .floor { fill: #a9b3a4 } .other { fill: #c9b98a } .worse { fill: #c07a5a }
    .spread { stroke: #24402f; stroke-width: 1.5; opacity: 0.6 }
    .line { fill: none; stroke-width: 2 } .dash { stroke-dasharray: 5 4 } .thick { stroke-width: 3.5 }
    @media (prefers-color-scheme: dark) {
      .title, .name, .value { fill: #dfe8dc } .unit, .tick { fill: #9fb0a2 } .grid { stroke: #344239 }
      .ours { fill: #6fb37e } .floor { fill: #6d786f } .other { fill: #8c8060 } .worse { fill: #b8714f }
      .spread, .one { stroke: #f3f6ef }
    }`;

// Distinguishable on white and on black.
const COLOURS = [
  ['floor', '#8b958d'],
  ['hedgerow', '#46945a'],
  ['IndexedDB', '#b9791f'],
  ['idb', '#5a9c8f'],
  ['Dexie', '#3f7fc9'],
  ['sqlite-wasm OPFS', '#9a62c4'],
  ['sqlite-wasm OPFS, WAL', '#cc4778'],
  ['sqlite-wasm memory', '#2a9d9a'],
  ['doltlite-wasm memory', '#8f8a1e'],
  ['Replicache', '#d0543c'],
  ['PouchDB', '#7a7f9a'],
];
const colourOf = (name) => new Map(COLOURS).get(name) ?? '#888888';

const escaped = (text) => text.replace(/[&<>"]/g, (char) => `&#${char.charCodeAt(0)};`);

/** Rounds to three significant digits. */
export function shown(value) {
  if (value >= 100) return Math.round(value).toLocaleString('en');
  return value >= 0.01 ? value.toPrecision(3) : value.toPrecision(2);
}

function svg(title, description, height, parts) {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="system-ui, sans-serif" font-size="14" role="img">
  <title>${escaped(description)}</title>
  <style>${STYLE}
  </style>
  <text x="0" y="18" class="title">${escaped(title)}</text>
${parts.filter(Boolean).join('\n')}
</svg>
`;
}

const fixed = (number) => number.toFixed(1);

/** Maps values to pixels, and names the powers of ten between them. */
function logScale(values, from, to, room = 2) {
  const [low, high] = [Math.min(...values) / room, Math.max(...values) * (room > 1 ? 1.1 : 1)];
  const at = (value) => from + (Math.log(value / low) / Math.log(high / low)) * (to - from);
  const ticks = [];
  for (let power = Math.ceil(Math.log10(low)); 10 ** power <= high; power++)
    ticks.push(10 ** power);
  return { at, ticks };
}

const tickText = (value) => (value >= 1 ? value.toLocaleString('en') : String(value));

/** Draws one case: a bar for each contestant, and a line of text for each without a figure. */
export function bars({ title, unit, ours, floor, peers, variants }) {
  const all = [ours, floor, ...variants, ...peers].filter((one) => one !== null);
  const measured = all.filter(({ median }) => median > 0);
  if (measured.length === 0) return undefined;
  const [left, right, top, row] = [210, 150, 54, 30];
  const bottom = top + measured.length * row;
  const scale = logScale(
    measured.flatMap(({ min, max }) => [Math.max(min, 1e-6), max]),
    left,
    WIDTH - right,
  );
  const better = unit === 'per second' ? 'longer' : 'shorter';
  const ratio = ({ overOurs, kind }) =>
    kind === 'ours' || !overOurs ? '' : ` <tspan class="unit">${shown(overOurs.median)} x</tspan>`;
  const parts = [
    `  <text x="0" y="37" class="unit">${escaped(unit)}, median with least and most; log scale, ${better} is better; x: ${unit === 'MiB' ? 'size' : 'time'} in multiples of Hedgerow's</text>`,
    ...scale.ticks.map(
      (tick) =>
        `  <path d="M${fixed(scale.at(tick))} ${top - 6}V${bottom}" class="grid"/><text x="${fixed(scale.at(tick))}" y="${bottom + 12}" text-anchor="middle" class="tick">${tickText(tick)}</text>`,
    ),
    ...measured.map((one, index) => {
      const y = top + index * row;
      const [from, to] = [scale.at(Math.max(one.min, 1e-6)), scale.at(one.max)];
      const look = one.kind === 'ours' ? 'ours' : one.kind === 'floor' ? 'floor' : 'other';
      return `  <text x="${left - 10}" y="${y + 15}" text-anchor="end" class="name">${escaped(one.name)}</text>
  <rect x="${left}" y="${y}" width="${fixed(scale.at(one.median) - left)}" height="20" rx="3" class="${look}"/>
  <path d="M${fixed(from)} ${y + 10}H${fixed(to)}" class="spread"/>
  <text x="${fixed(to + 8)}" y="${y + 15}" class="value">${shown(one.median)}${ratio(one)}</text>`;
    }),
    ...missing(all, bottom + 34),
  ];
  const height = bottom + 26 + 16 * missing(all, 0).length;
  const text = measured.map(({ name, median }) => `${name} ${shown(median)}`).join(', ');
  return svg(title, `${title}: ${text}`, height, parts);
}

function missing(all, top) {
  return all
    .filter(({ samples }) => samples === undefined)
    .map(
      ({ name, reason, failed }, index) =>
        `  <text x="0" y="${top + 16 * index}" class="unit">${escaped(`${name}: ${failed === undefined ? reason : `failed, ${failed}`}`)}</text>`,
    );
}

/** Draws a job over the number of rows, a line for each contestant. */
export function curve(growth, name) {
  const found = growth.flatMap(({ rows, cases }) =>
    cases.filter((one) => one.name === name).map((one) => ({ rows, one })),
  );
  const first = found[0]?.one;
  if (first === undefined || found.length < 2) return undefined;
  const lines = new Map();
  for (const { rows, one } of found) {
    for (const row of [one.ours, one.floor, ...one.peers]) {
      if (!(row?.median > 0)) continue;
      lines.set(row.name, [...(lines.get(row.name) ?? []), { rows, value: row.median }]);
    }
  }
  const [left, right, top, bottom] = [64, 212, 56, 356];
  const most = Math.max(...found.map(({ rows }) => rows));
  const points = [...lines.values()].flat();
  const x = logScale(
    points.map(({ rows }) => rows),
    left,
    WIDTH - right,
    1,
  );
  const y = logScale(
    points.map(({ value }) => value),
    bottom,
    top,
    1.3,
  );
  const labels = spread(
    [...lines].map(([who, own]) => ({ who, y: y.at(own.at(-1).value), end: own.at(-1) })),
    top,
  );
  const parts = [
    `  <text x="0" y="37" class="unit">${escaped(first.unit)}, over the number of rows; both axes log</text>`,
    ...y.ticks.map(
      (tick) =>
        `  <path d="M${left} ${fixed(y.at(tick))}H${WIDTH - right}" class="grid"/><text x="${left - 8}" y="${fixed(y.at(tick) + 4)}" text-anchor="end" class="tick">${tickText(tick)}</text>`,
    ),
    ...x.ticks.map(
      (tick) =>
        `  <path d="M${fixed(x.at(tick))} ${top}V${bottom}" class="grid"/><text x="${fixed(x.at(tick))}" y="${bottom + 16}" text-anchor="middle" class="tick">${tickText(tick)}</text>`,
    ),
    ...[...lines].map(([who, own]) => {
      const path = own
        .map(({ rows, value }) => `${fixed(x.at(rows))} ${fixed(y.at(value))}`)
        .join('L');
      const look = who === 'hedgerow' ? ' thick' : who === 'floor' ? ' dash' : '';
      const dots = own.map(
        ({ rows, value }) =>
          `<circle cx="${fixed(x.at(rows))}" cy="${fixed(y.at(value))}" r="3.5" fill="${colourOf(who)}"/>`,
      );
      return `  <path d="M${path}" class="line${look}" stroke="${colourOf(who)}"/>${dots.join('')}`;
    }),
    ...labels.map(
      ({ who, y: at, end }) =>
        `  <path d="M${fixed(x.at(end.rows) + 5)} ${fixed(y.at(end.value))}L${WIDTH - right + 10} ${fixed(at)}" stroke="${colourOf(who)}" opacity="0.5"/><text x="${WIDTH - right + 14}" y="${fixed(at + 4)}" class="name" font-size="12">${escaped(who)} <tspan class="tick">${shown(end.value)}${end.rows < most ? ` at ${tickText(end.rows)}` : ''}</tspan></text>`,
    ),
  ];
  const height = Math.max(bottom + 26, (labels.at(-1)?.y ?? 0) + 14);
  return svg(`${first.name}: ${first.title}`, `${first.title}, over rows`, height, parts);
}

/** Moves overlapping labels down. */
function spread(labels, top) {
  const sorted = labels.sort((a, b) => a.y - b.y);
  let last = top - 20;
  for (const label of sorted) {
    label.y = Math.max(label.y, last + 16);
    last = label.y;
  }
  return sorted;
}

/** Draws ratios around one: to the right Hedgerow is faster. */
export function ratios({ name, ours, peer, ratios: all, geometricMean }) {
  const rows = [...all, { case: 'geometric mean', median: geometricMean }];
  const [left, right, top, row] = [210, 70, 54, 26];
  const values = rows.flatMap(({ median, min = median, max = median }) => [min, max]);
  const scale = logScale([...values, 0.5, 2], left + 40, WIDTH - right, 1);
  const one = scale.at(1);
  const bottom = top + rows.length * row + 8;
  const parts = [
    `  <text x="0" y="37" class="unit">time of ${escaped(peer)} / time of ${escaped(ours)}; log scale; above 1 Hedgerow is faster</text>`,
    ...scale.ticks.map(
      (tick) =>
        `  <path d="M${fixed(scale.at(tick))} ${top - 6}V${bottom}" class="grid"/><text x="${fixed(scale.at(tick))}" y="${bottom + 12}" text-anchor="middle" class="tick">${tickText(tick)}</text>`,
    ),
    ...rows.map(({ case: job, median, min, max }, index) => {
      const y = top + index * row + (index === rows.length - 1 ? 8 : 0);
      const at = scale.at(median);
      const end = Math.max(scale.at(max ?? median), one);
      const bar = `<rect x="${fixed(Math.min(at, one))}" y="${y}" width="${fixed(Math.max(1, Math.abs(at - one)))}" height="17" rx="2" class="${median >= 1 ? 'ours' : 'worse'}"/>`;
      const range =
        min === undefined
          ? ''
          : `<path d="M${fixed(scale.at(min))} ${y + 8.5}H${fixed(scale.at(max))}" class="spread"/>`;
      const weight = index === rows.length - 1 ? ' font-weight="600"' : '';
      return `  <text x="${left - 10}" y="${y + 13}" text-anchor="end" class="name"${weight}>${escaped(job)}</text>
  ${bar}${range}<text x="${fixed(end + 8)}" y="${y + 13}" class="value"${weight}>${shown(median)}</text>`;
    }),
    `  <path d="M${fixed(one)} ${top - 6}V${bottom}" class="one"/>`,
  ];
  const title = `sysbench as key/value operations, ${name}`;
  return svg(title, `${title}: geometric mean ${shown(geometricMean)}`, bottom + 24, parts);
}
