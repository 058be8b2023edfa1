// Prints `results/latest.json`.

const ROWS = [
  ['frame', 'frame to frame'],
  ['timer', 'setTimeout(0), late by'],
  ['message', "a worker's message"],
  ['fetch', 'fetch'],
  ['database', 'IndexedDB get'],
  ['click', 'click'],
];

export function printReport({ browser, machine, scenarios, traces, ...others }) {
  console.log(`
${browser.product}, IndexedDB on ${browser.indexedDb}, on-disk profile
${machine.cores} cores (${machine.cpu}), load average ${machine.loadAverage.toFixed(1)} at the end

p50 / p99 / max in ms`);
  const head = ['', ...scenarios.map(({ name }) => name)];
  const rows = ROWS.map(([probe, title]) => [
    title,
    ...scenarios.map(({ probes }) => triple(probes[probe])),
  ]);
  rows.push(
    ['tasks over 50 ms', ...scenarios.map(({ probes }) => longest(probes.longTasks))],
    ['frames over 50 ms', ...scenarios.map(({ probes }) => longest(probes.longFrames))],
    ['longest slice', ...scenarios.map(({ loads }) => longestSlice(loads))],
  );
  const traced = (from) =>
    scenarios.map(({ name }) => {
      const trace = traces.find((one) => one.name === name);
      return trace === undefined ? '' : triple(trace[from]);
    });
  if (traces.length > 0) {
    rows.push(['a task*', ...traced('tasks')], ["its thread's time*", ...traced('threadTimes')]);
  }
  printTable([head, ...rows]);
  if (traces.length > 0) {
    console.log('  * of a millisecond or more, in a trace of the same load without probes');
  }
  console.log();
  for (const { name, title, loads } of scenarios) {
    const [first] = loads;
    if (first === undefined) {
      console.log(`  ${name}: ${title}`);
      continue;
    }
    const speed = Math.round((1000 * first.rows) / first.ms).toLocaleString('en');
    const memory = (first.memoryBytes / 2 ** 20).toFixed(0);
    console.log(
      `  ${name}: ${title}; ${show(first.ms)} ms with all probes at work, ${speed} rows/s, ${first.slices} slices, ${memory} MiB of linear memory`,
    );
  }
  printOthers(others);
  for (const trace of traces) printTasks(trace);
}

/** Prints the measurements outside the scenarios. */
function printOthers({ slicing, hidden, reads }) {
  if (slicing === undefined) return;
  console.log(`
  slicing: ${times(slicing.slicedOverUnsliced)} the time of one piece, ${slicing.rows.toLocaleString('en')} rows; making the rows takes ${show(slicing.sourceMs)} ms
  reads:   ${reads.gets} gets, ${reads.counts} counts and ${reads.scans} scans during a load, ${reads.after} reads after it, one scan across its end: ${reads.wrong.length} wrong`);
  for (const wrong of reads.wrong) console.log(`           ${wrong}`);
  if (hidden === undefined) return;
  console.log(
    `  hidden:  ${times(hidden.hiddenSpeed)} the speed of the visible page; there, slicing takes ${times(hidden.slicedOverUnsliced)} the time of one piece
           (visible: ${hidden.visible.frames} frames, ${hidden.visible.timers} timers in ${hidden.lookMs} ms; hidden: ${hidden.hidden.frames}, ${hidden.hidden.timers})`,
  );
}

/** Prints the longest tasks of each trace, and their parts. */
function printTasks({ name, longest, longestThreadTimes }) {
  const one = ({ ms, threadMs, parts }) => {
    const inside = Object.entries(parts).map(([part, { ms }]) => `, ${part} ${show(ms)}`);
    return `${show(ms)} (thread ${show(threadMs)}${inside.join('')})`;
  };
  const some = (tasks) => tasks.slice(0, 4).map(one).join('; ');
  console.log(`
  ${name}, longest tasks: ${some(longest)}
  ${' '.repeat(name.length)}  by thread time: ${some(longestThreadTimes)}`);
}

function triple(summary) {
  if (summary === null) return 'none';
  return [summary.p50, summary.p99, summary.max].map(show).join(' / ');
}

function longest(tasks) {
  if (tasks === null) return 'not told';
  return tasks.count === 0 ? 'none' : `${tasks.count}, to ${show(tasks.max)}`;
}

function longestSlice(loads) {
  if (loads.length === 0) return '';
  return show(Math.max(...loads.map(({ longestSliceMs }) => longestSliceMs)));
}

function times({ median, min, max }) {
  return `${median.toFixed(2)} x (${min.toFixed(2)} .. ${max.toFixed(2)})`;
}

function printTable(rows) {
  const widths = rows[0].map((_, at) => Math.max(...rows.map((row) => row[at].length)));
  for (const row of rows) {
    const cells = row.map((cell, at) =>
      at === 0 ? cell.padEnd(widths[at]) : cell.padStart(widths[at]),
    );
    console.log(`  ${cells.join('   ').trimEnd()}`);
  }
}

export function show(ms) {
  const digits = ms >= 99.5 ? 0 : 1;
  return ms.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}
