// Prints what `results/latest.json` holds.

export function printEnvironment({ options, rowBytes, versions, browser, machine }) {
  const { cores, cpu, memoryGiB, loadAverage } = machine;
  console.log(`
${browser.product}, IndexedDB on ${browser.indexedDb}, on-disk profile
hedgerow ${versions.hedgerow}, dexie ${versions.dexie}
${cores} cores (${cpu}), ${memoryGiB.toFixed(0)} GiB, load average ${loadAverage.toFixed(1)} at the end
${options.rows.toLocaleString('en')} rows, ${rowBytes.toFixed(1)} bytes of JSON each; ${options.rounds} rounds`);
}

/** A table for each case, and below it the further figures. */
export function printCase({ name, title, unit, error, ours, floor, peers, variants, profile }) {
  console.log(`\n${name}: ${title} [${unit}]`);
  if (error !== undefined) {
    console.log(`  FAILED: ${error}`);
    return;
  }
  const all = [ours, ...(floor === null ? [] : [floor]), ...variants, ...peers];
  const rows = all.map((one) => [
    one.kind === 'floor' && one.name !== 'floor' ? `${one.name} (floor)` : one.name,
    show(one.median),
    show(one.min),
    show(one.max),
    one.kind === 'ours' ? '' : `${show(one.timeOverOurs.median)} x`,
    one.kind === 'ours' ? '' : `${show(one.timeOverOurs.min)} .. ${show(one.timeOverOurs.max)}`,
  ]);
  printTable(['', 'median', 'min', 'max', 'time / hedgerow', 'min .. max'], rows);
  for (const one of all) {
    const details = Object.entries(one.details).map(detail);
    if (details.length === 0) continue;
    console.log(`    ${one.name}: ${details.join('; ')}`);
  }
  for (const stretch of profile ?? []) printProfile(stretch);
}

function detail([key, { median, max }]) {
  const [name, unit = ''] = key.split(/, (?=\w+$)/);
  // Of what should never be long, the worst is of interest.
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
  console.log('\nbudgets (docs: section 9 of the design)');
  const rows = budgets.map(({ job, limit, figure, unit, met }) => [
    job,
    `${show(figure)} ${unit}`,
    limit,
    met ? 'met' : 'MISSED',
  ]);
  printTable(['', 'figure', 'budget', ''], rows);
}

function printTable(head, rows) {
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

/** Three digits that count, and all of a whole number. */
function show(number) {
  const digits = Math.abs(number) >= 100 ? 0 : Math.abs(number) >= 10 ? 1 : 2;
  return number.toLocaleString('en', {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
}
