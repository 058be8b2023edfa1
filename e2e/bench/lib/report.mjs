// Prints `results/latest.json`.

export function printEnvironment({ options, rowBytes, versions, browser, machine }) {
  const { cores, cpu, memoryGiB, loadAverage } = machine;
  console.log(`
${browser.product}, IndexedDB on ${browser.indexedDb}, on-disk profile
${Object.entries(versions)
  .map(([name, version]) => `${name} ${version}`)
  .join(', ')}
${cores} cores (${cpu}), ${memoryGiB.toFixed(0)} GiB, load average ${loadAverage.toFixed(1)} at the end
${options.rows.toLocaleString('en')} rows, ${rowBytes.toFixed(1)} bytes of JSON each; ${options.rounds} rounds`);
}

/** Prints a table for each case, and below it the further figures. */
export function printCase({ name, title, unit, ours, floor, peers, variants, profile }) {
  console.log(`\n${name}: ${title} [${unit}]`);
  const all = [ours, ...(floor === null ? [] : [floor]), ...variants, ...peers];
  const measured = all.filter(({ samples }) => samples !== undefined);
  const rows = measured.map((one) => [
    one.kind === 'floor' && one.name !== 'floor' ? `${one.name} (floor)` : one.name,
    show(one.median),
    show(one.min),
    show(one.max),
    ...(one.kind === 'ours' || one.overOurs === null
      ? ['', '']
      : [
          `${show(one.overOurs.median)} x`,
          `${show(one.overOurs.min)} .. ${show(one.overOurs.max)}`,
        ]),
  ]);
  const over = unit === 'MiB' ? '/ hedgerow' : 'time / hedgerow';
  printTable(['', 'median', 'min', 'max', over, 'min .. max'], rows);
  for (const { name: who, reason, failed } of all) {
    if (reason !== undefined) console.log(`    ${who}: none, ${reason}`);
    if (failed !== undefined) console.log(`    ${who}: FAILED, ${failed}`);
  }
  for (const one of measured) {
    const details = Object.entries(one.details).map(detail);
    if (details.length === 0) continue;
    console.log(`    ${one.name}: ${details.join('; ')}`);
  }
  for (const stretch of profile ?? []) printProfile(stretch);
}

/** Prints a line for each case and side, and their mean. */
export function printSysbench({ pairs }) {
  for (const { name, ours, peer, ratios, least, geometricMean } of pairs) {
    console.log(`\nsysbench, ${name}: time of ${peer} / time of ${ours}`);
    const rows = ratios.map((one) => [one.case, show(one.median), show(one.min), show(one.max)]);
    printTable(
      ['', 'median', 'min', 'max'],
      [...rows, [`geometric mean, ${least} at least`, show(geometricMean), '', '']],
    );
  }
}

/** Prints a table for each job: sizes down, contestants across. */
export function printGrowth(growth) {
  for (const { name, unit } of growth[0]?.cases ?? []) {
    const found = growth.flatMap(({ rows, cases }) =>
      cases.filter((one) => one.name === name).map((one) => ({ rows, one })),
    );
    const rowsOf = ({ ours, floor, peers }) =>
      [ours, floor, ...peers].filter((row) => row?.samples !== undefined);
    const names = [...new Set(found.flatMap(({ one }) => rowsOf(one).map((row) => row.name)))];
    console.log(`\ngrowth of ${name} [${unit}]`);
    const table = names.map((who) => [
      who,
      ...found.map(({ one }) => {
        const row = rowsOf(one).find((row) => row.name === who);
        return row === undefined ? '-' : show(row.median);
      }),
    ]);
    printTable(['rows', ...found.map(({ rows }) => rows.toLocaleString('en'))], table);
  }
}

function detail([key, { median, max }]) {
  const [name, unit = ''] = key.split(/, (?=\w+$)/);
  // Of figures that should never be long, the worst is of interest.
  const worst = name.startsWith('longest') && max > median ? ` (worst ${show(max)})` : '';
  return `${name} ${show(median)}${worst} ${unit}`.trimEnd();
}

function printProfile({ ms, functions }) {
  console.log(`    own time by function, of ${show(ms)} ms:`);
  for (const { name, share, ms: own } of functions) {
    console.log(
      `    ${(100 * share).toFixed(1).padStart(6)} %  ${show(own).padStart(7)} ms  ${name}`,
    );
  }
}

export function printBudgets(budgets) {
  if (budgets.length === 0) return;
  console.log('\nbudgets (docs: section 9 of the design)');
  const rows = budgets.map(({ job, limit, figure, unit, met }) => [
    job,
    `${show(figure)} ${unit}`,
    limit,
    met ? 'met' : 'MISSED',
  ]);
  printTable(['', 'figure', 'budget', ''], rows);
}

export function printTable(head, rows) {
  const widths = head.map((title, at) =>
    Math.max(title.length, ...rows.map((row) => row[at].length)),
  );
  const line = (cells) =>
    cells
      .map((cell, at) => (at === 0 ? cell.padEnd(widths[at]) : cell.padStart(widths[at])))
      .join('  ')
      .trimEnd();
  for (const row of [head, ...rows]) console.log(`  ${line(row)}`);
}

/** Rounds to three significant digits; a whole number keeps all. */
export function show(number) {
  const digits = Math.abs(number) >= 100 ? 0 : Math.abs(number) >= 10 ? 1 : 2;
  return number.toLocaleString('en', {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
}
