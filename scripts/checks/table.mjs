// Prints the progress of the steps: a line now and then while they run, and a table at the end.

const LAST_LINES = 60;
/** The time between two reports of the running steps, in milliseconds. */
const TELL_EVERY_MS = 30_000;

const minutes = (seconds) => {
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
};
export const secondsSince = (started) => (performance.now() - started) / 1000;

/** Says every half minute which steps run, and about how long each still takes. */
export class Progress {
  #running = new Map();
  #started = performance.now();
  #timer;

  constructor() {
    this.#timer = setInterval(() => this.#tell(), TELL_EVERY_MS);
    this.#timer.unref();
  }

  begin(step) {
    this.#running.set(step, performance.now());
  }

  end(step) {
    this.#running.delete(step);
  }

  stop() {
    clearInterval(this.#timer);
  }

  #tell() {
    const each = [...this.#running].map(([{ name, seconds }, started]) => {
      const of = seconds > 0 ? ` of about ${minutes(seconds)}` : '';
      return `${name} ${minutes(secondsSince(started))}${of}`;
    });
    if (each.length > 0)
      console.log(`    ${minutes(secondsSince(this.#started))}  ${each.join(', ')}`);
  }
}

/** Prints the last lines of a failed step's output again: other steps went on after it. */
export function printLastLines({ name, output }) {
  const last = output.trimEnd().split('\n').slice(-LAST_LINES).join('\n');
  console.log(`\n=== ${name} failed: its last lines ===\n${last}`);
}

const countsOf = ({ passed, failed, skipped = 0 }) =>
  [`${passed} passed`, `${failed} failed`, ...(skipped > 0 ? [`${skipped} skipped`] : [])].join(
    ', ',
  );

function resultOf({ problem, stamp, files }) {
  if (problem !== undefined) return `FAILED, ${problem.split('\n')[0].slice(-80)}`;
  if (stamp !== undefined) return `ok, as of ${stamp.commit}`;
  const isPart = files && files.ran.length < files.all.length;
  return isPart ? `ok, in ${files.ran.length} of ${files.all.length} files` : 'ok';
}

/** Prints a row for each step: its time, its result, and how many tests ran. */
export function printTable(rows) {
  console.log(`\n${'step'.padEnd(12)}${'time'.padStart(9)}   result`);
  for (const row of rows) {
    const time = row.stamp ? '-' : `${row.seconds.toFixed(1)} s`;
    const tests = row.counts ? `: ${countsOf(row.counts)}` : '';
    console.log(`${row.name.padEnd(12)}${time.padStart(9)}   ${resultOf(row)}${tests}`);
  }
}

/** Prints a row for each repeated step: how often it failed, and how long it took. */
export function printRepeats(rows) {
  console.log(`\n${'step'.padEnd(12)}${'runs'.padStart(6)}${'failed'.padStart(8)}   seconds`);
  for (const name of new Set(rows.map((row) => row.name))) {
    const all = rows.filter((row) => row.name === name);
    const failed = all.filter(({ problem }) => problem !== undefined).length;
    const times = all.map(({ seconds }) => Math.round(seconds)).join(' ');
    console.log(
      `${name.padEnd(12)}${`${all.length}`.padStart(6)}${`${failed}`.padStart(8)}   ${times}`,
    );
  }
}
