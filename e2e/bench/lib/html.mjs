// Writes the report as one self-contained HTML file.

import { bars, curve, ratios, shown } from './charts.mjs';

const escaped = (text) => String(text).replace(/[&<>"]/g, (char) => `&#${char.charCodeAt(0)};`);

const STYLE = `
  :root { color-scheme: light dark; --paper: #fcfdfa; --ink: #24402f; --soft: #66756a; --line: #dfe3da;
    --good: #d6ead9; --bad: #f3dccf; --worst: #e9b99f }
  @media (prefers-color-scheme: dark) { :root { --paper: #141a16; --ink: #dfe8dc; --soft: #9fb0a2;
    --line: #344239; --good: #21422b; --bad: #4a3025; --worst: #6b3a24 } }
  body { margin: 2rem auto; padding: 0 1rem; max-width: 1180px; background: var(--paper); color: var(--ink);
    font: 15px/1.5 system-ui, sans-serif }
  h1, h2 { line-height: 1.2 } h2 { margin-top: 3rem; border-top: 1px solid var(--line); padding-top: 1rem }
  p.soft, small, figcaption { color: var(--soft) }
  .scroll { overflow-x: auto } table { border-collapse: collapse; font-size: 13px }
  th, td { padding: 3px 8px; text-align: right; white-space: nowrap; border-bottom: 1px solid var(--line) }
  th:first-child, td:first-child { text-align: left } thead th { vertical-align: bottom; font-weight: 600 }
  .good { background: var(--good) } .bad { background: var(--bad) } .worst { background: var(--worst) }
  .charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(520px, 100%), 1fr)); gap: 2rem 2.5rem }
  .charts figure { margin: 0; align-self: start } svg { width: 100%; height: auto }
  summary { cursor: pointer; color: var(--soft); font-size: 13px }
  details ul { margin: 0.3rem 0; padding-left: 1.2rem; font-size: 12.5px; color: var(--soft) }`;

export function htmlReport(report) {
  const { cases, growth, sysbench, budgets } = report;
  const own = cases.filter(({ name }) => !name.startsWith('sysbench-'));
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Hedgerow benchmarks</title>
<style>${STYLE}
</style>
<h1>Hedgerow benchmarks</h1>
${about(report)}
${own.length > 0 ? `<h2>All cases at a glance</h2>${glance(own)}` : ''}
${budgets.length > 0 ? `<h2>Budgets</h2>${budgetTable(budgets)}` : ''}
${own.length > 0 ? `<h2>Cases</h2><div class="charts">${own.map(caseFigure).join('\n')}</div>` : ''}
${growth.length > 1 ? `<h2>Growth</h2><div class="charts">${curves(growth)}</div>` : ''}
${sysbench === null ? '' : `<h2>Sysbench, ${sysbench.rows.toLocaleString('en')} rows</h2><div class="charts">${sysbench.pairs.map((pair) => `<figure>${ratios(pair)}</figure>`).join('\n')}</div>`}
</html>
`;
}

function about({ startedAt, seconds, options, rowBytes, versions, browser, machine }) {
  const list = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  return `<p class="soft">${escaped(browser.product)}, IndexedDB on ${escaped(browser.indexedDb)}, on-disk profile;
${machine.cores} cores (${escaped(machine.cpu)}), ${machine.memoryGiB.toFixed(0)} GiB, load average ${machine.loadAverage.toFixed(1)} at the end.<br>
${options.rows.toLocaleString('en')} rows of ${rowBytes.toFixed(0)} bytes of JSON, ${options.rounds} rounds, ${Math.round(seconds / 60)} minutes from ${escaped(startedAt)}.<br>
${escaped(list.join(', '))}</p>
<p>The figures are those of one machine on one day: compare ratios, not milliseconds.</p>`;
}

const rowsOf = ({ ours, floor, variants, peers }) =>
  [ours, floor, ...variants, ...peers].filter((one) => one !== null);

/** Writes cases down, contestants across: Hedgerow's figure, and the others as multiples of it. */
function glance(cases) {
  const names = [
    ...new Set(
      cases.flatMap((one) =>
        rowsOf(one)
          .filter(({ kind }) => kind !== 'ours' && kind !== 'variant')
          .map(({ name }) => name),
      ),
    ),
  ].filter((name) => !name.startsWith('hedgerow'));
  const cell = (one, name) => {
    const row = rowsOf(one).find((row) => row.name === name);
    if (row === undefined) return '<td></td>';
    if (row.samples === undefined) {
      return `<td title="${escaped(row.reason ?? row.failed)}">${row.failed === undefined ? '–' : 'failed'}</td>`;
    }
    if (row.overOurs === null)
      return `<td>${shown(row.median)} <small>${escaped(one.unit)}</small></td>`;
    const ratio = row.overOurs.median;
    const look = row.kind === 'floor' ? '' : ratio < 0.5 ? 'worst' : ratio < 1 ? 'bad' : 'good';
    return `<td class="${look}" title="${shown(row.median)} ${escaped(one.unit)}">${shown(ratio)}</td>`;
  };
  return `<p class="soft">Time (or size) in multiples of Hedgerow's: above 1, Hedgerow is faster (or smaller). Point at a cell for its figure or the reason why there is none.</p>
<div class="scroll"><table><thead><tr><th>case<th>hedgerow${names.map((name) => `<th>${escaped(name).replaceAll(' ', '<br>')}`).join('')}</tr></thead>
${cases.map((one) => `<tr><td title="${escaped(one.title)}">${escaped(one.name)}<td>${one.ours.median === undefined ? '–' : `${shown(one.ours.median)} <small>${one.unit === 'per second' ? '/s' : one.unit}</small>`}${names.map((name) => cell(one, name)).join('')}</tr>`).join('\n')}
</table></div>`;
}

function budgetTable(budgets) {
  const rows = budgets.map(
    ({ job, limit, figure, unit, met }) =>
      `<tr><td>${escaped(job)}<td>${shown(figure)} ${escaped(unit)}<td>${escaped(limit)}<td class="${met ? 'good' : 'bad'}">${met ? 'met' : 'missed'}</tr>`,
  );
  return `<div class="scroll"><table><thead><tr><th>job<th>figure<th>budget<th></tr></thead>${rows.join('\n')}</table></div>`;
}

function caseFigure(one) {
  const details = rowsOf(one).flatMap(({ name, note, details = {} }) => {
    const figures = Object.entries(details).map(([key, { median }]) => {
      const [what, unit = ''] = key.split(/, (?=\w+$)/);
      return `${what} ${shown(median)} ${unit}`.trimEnd();
    });
    const text = [note, ...figures].filter(Boolean).join('; ');
    return text === '' ? [] : [`<li>${escaped(`${name}: ${text}`)}</li>`];
  });
  const title = `${one.name}: ${one.title}`;
  const more =
    details.length === 0
      ? ''
      : `<details><summary>notes and further figures</summary><ul>${details.join('')}</ul></details>`;
  return `<figure>${bars({ ...one, title }) ?? escaped(title)}${more}</figure>`;
}

function curves(growth) {
  const names = [...new Set(growth.flatMap(({ cases }) => cases.map(({ name }) => name)))];
  return names
    .map((name) => curve(growth, name))
    .filter(Boolean)
    .map((drawn) => `<figure>${drawn}</figure>`)
    .join('\n');
}
