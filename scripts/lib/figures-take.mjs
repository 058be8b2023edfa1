// Turns a result of the benchmarks (`e2e/bench/README.md`) into published figures.

const slug = (name) => name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');

/** A case of 100,000 rows has its name as the key, another one the number of rows, too. */
const caseKey = ({ name, rows }) => (rows === 100_000 ? name : `${name}-${rows}`);

const BACKENDS = { leveldb: 'LevelDB', sqlite: 'SQLite' };
const threeDigits = (value) => Number(value.toPrecision(3));

/** Returns the published figures with the figures of a result; drops all that the run had before. */
export function takeFigures(data, report, run) {
  const before = Object.entries(data.figures).filter(([, figure]) => figure.run !== run);
  const notes = Object.entries(data.figures).map(([key, { note }]) => [key, note]);
  const noteOf = new Map(notes);
  const taken = report.cases.flatMap((one) => figuresOf(one, run));
  for (const [key, figure] of taken) {
    const note = noteOf.get(key);
    if (note !== undefined) figure.note = note;
  }
  const all = [...new Map([...before, ...taken])].sort(([a], [b]) => (a < b ? -1 : 1));
  const used = new Set(all.map(([, figure]) => figure.run));
  const runs = { ...data.runs, [run]: runOf(report) };
  return {
    ...data,
    runs: Object.fromEntries(Object.entries(runs).filter(([id]) => used.has(id))),
    figures: Object.fromEntries(all),
  };
}

function figuresOf(one, run) {
  const contestants = [one.ours, one.floor, ...one.peers, ...one.variants];
  return contestants
    .filter((contestant) => contestant?.median !== undefined)
    .flatMap(({ name, kind, median, overOurs }) => {
      const key = `${caseKey(one)}.${slug(name)}`;
      const value = [key, { value: threeDigits(median), unit: one.unit, run }];
      if (kind === 'ours' || !overOurs) return [value];
      return [value, [`${key}.ratio`, { value: threeDigits(overOurs.median), unit: 'x', run }]];
    });
}

function runOf({ startedAt, options, rowBytes, browser, machine, engine }) {
  const { rows, rounds, only } = options;
  const given = [
    ...(rows === 100_000 ? [] : ['--rows', rows]),
    ...['--rounds', rounds],
    ...(only === null ? [] : ['--only', only.join(',')]),
    ...(engine === 'chromium' ? [] : ['--engines', engine]),
  ];
  const backend = browser.indexedDb;
  return {
    date: startedAt.slice(0, 'YYYY-MM-DD'.length),
    command: `npm run bench -- ${given.join(' ')}`,
    what: `${rows.toLocaleString('en')} rows of ${Math.round(rowBytes)} bytes`,
    machine: `${machine.cores} cores (${machine.cpu})`,
    browser: browser.product.replace(/^(?:Headless)?Chrome\/(\d+).*/, 'Chromium $1'),
    indexedDb: BACKENDS[backend] ?? backend,
  };
}
