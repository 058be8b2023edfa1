// Writes all cases of one run as a Markdown table: Hedgerow's figure, and the others as multiples of it.

import { shown } from './charts.mjs';

const UNITS = { ms: 'ms', 'per second': 'a second', MiB: 'MiB' };

/** A run on one machine supports only two digits of a ratio. */
const times = (ratio) => (ratio >= 10 ? String(Math.round(ratio)) : ratio.toPrecision(2));
const isMeasured = (one) => one?.samples !== undefined;

/** Writes a multiple: above 1, Hedgerow is faster or smaller; otherwise it is bold. */
function multiple(row) {
  if (!isMeasured(row)) return '';
  if (row.overOurs === null) return `${shown(row.median)}`;
  const text = times(row.overOurs.median);
  return row.kind !== 'floor' && row.overOurs.median < 1 ? `**${text}**` : text;
}

export function glance({ browser, machine, options, startedAt, cases }) {
  const others = cases.map(({ floor, variants, peers }) => [
    ...(floor === null ? [] : [floor]),
    ...variants,
    ...peers,
  ]);
  const names = [
    ...new Set(
      others
        .flat()
        .filter(isMeasured)
        .map(({ name }) => name),
    ),
  ];
  const rows = cases.map(({ name, unit, ours }, at) => {
    const own = isMeasured(ours) ? `${shown(ours.median)} ${UNITS[unit]}` : 'none';
    const cells = names.map((who) => multiple(others[at].find((one) => one.name === who)));
    return [name, own, ...cells];
  });
  const line = (cells) => `| ${cells.join(' | ')} |`;
  const reasons = new Set(
    others.flatMap((all, at) =>
      all
        .filter((one) => !isMeasured(one))
        .map(({ name, reason, failed }) => `${name}: ${failed ?? reason} (${cases[at].name})`),
    ),
  );
  return [
    `${browser.product}, IndexedDB on ${browser.indexedDb}; ${options.rows.toLocaleString('en')} rows, ${options.rounds} rounds, ${startedAt.slice(0, 10)};`,
    `${machine.cores} cores (${machine.cpu}), load average ${machine.loadAverageBefore.toFixed(1)} before and ${machine.loadAverage.toFixed(1)} after.`,
    '',
    line(['', 'Hedgerow', ...names]),
    line(['---', '---', ...names.map(() => '---')]),
    ...rows.map(line),
    '',
    ...[...reasons].map((reason) => `- ${reason}`),
    '',
  ].join('\n');
}
