// Makes a table of figures: a row for each case, a column for each product, and below it the runs of the figures.

import { ratioOf, shown, shownRatio } from './figures-shown.mjs';

/** Returns the figure with a key. */
export function figureOf({ figures }, key) {
  const figure = figures[key];
  if (figure === undefined) throw new Error(`docs/figures.json has no ${key}`);
  return figure;
}

function titleOf(titles, key) {
  if (titles[key] === undefined) throw new Error(`docs/figures.json has no title of ${key}`);
  return titles[key];
}

/** `as=ratios rows=load,open columns=hedgerow,dexie` */
function readSpec(text) {
  const given = Object.fromEntries(text.split(/\s+/).map((one) => one.split('=')));
  const { as, rows, columns, ...others } = given;
  const isKnown = ['values', 'ratios'].includes(as) && Object.keys(others).length === 0;
  if (!isKnown || !rows || !columns) throw new Error(`no such table of figures: ${text}`);
  return { as, rows: rows.split(','), columns: columns.split(',') };
}

/** Explains how to read a table of ratios. */
const RATIOS =
  'The other columns say how many times slower or larger than Hedgerow a library is. Below 1 x Hedgerow loses. The best is bold.';

/** Makes the table that a text describes. */
export function figureTable(text, data) {
  const { as, rows, columns } = readSpec(text);
  const heads = columns.map((column) => titleOf(data.products, column));
  const lines = rows.map((row) => {
    const cells = cellsOf(row, columns, as, data);
    return `| ${titleOf(data.rows, row)} | ${cells.join(' | ')} |`;
  });
  const rule = `|---|${columns.map(() => '---|').join('')}`;
  const intro = as === 'ratios' ? [RATIOS, ''] : [];
  const head = `| | ${heads.join(' | ')} |`;
  return [...intro, head, rule, ...lines, '', caption(rows, data)].join('\n');
}

/** The best is bold, and so are all that equal it to two digits. */
function cellsOf(row, columns, as, data) {
  const own = figureOf(data, `${row}.hedgerow`);
  const all = columns.map((column) => {
    const figure = data.figures[`${row}.${column}`];
    if (figure === undefined) return undefined;
    if (figure.run !== own.run) throw new Error(`the figures of ${row} are of several runs`);
    const ratio = ratioOf(figure, own, data.figures[`${row}.${column}.ratio`]);
    return { figure, ratio: Number(ratio.toPrecision(2)) };
  });
  const best = Math.min(...all.flatMap((one) => one?.ratio ?? []));
  return all.map((one) => {
    if (one === undefined) return '';
    const { figure, ratio } = one;
    const value = as === 'values' || figure === own ? shown(figure) : shownRatio(ratio);
    const text = ratio === best ? `**${value}**` : value;
    return figure.note === undefined ? text : `${text}, ${figure.note}`;
  });
}

/** Names the run of each row, with its date and its command: the rows of the first run need no name. */
function caption(rows, data) {
  const ids = rows.map((row) => figureOf(data, `${row}.hedgerow`).run);
  const runs = [...new Set(ids)];
  const places = new Set(runs.map((run) => placeOf(data.runs[run])));
  const parts = runs.map((run, nth) => {
    const named = rows.filter((_, at) => ids[at] === run).map((row) => data.rows[row]);
    const where = nth === 0 || places.size > 1 ? placeOf(data.runs[run]) : '';
    return `${nth === 0 ? '' : `${named.join('; ')}: `}${where}${runText(data.runs[run])}`;
  });
  return `${parts.join('; ')}.`;
}

const placeOf = ({ browser, indexedDb, machine }) =>
  browser === undefined ? '' : `${browser}, IndexedDB on ${indexedDb}, ${machine}: `;

const runText = ({ what, command, date }) => `${what}, \`${command}\`, ${dayText(date)}`;

/** 26 November 2026 */
const dayText = (date) =>
  new Date(date).toLocaleDateString('en-GB', {
    day: 'numeric',
    month: 'long',
    year: 'numeric',
    timeZone: 'UTC',
  });
