// Counts tests in the reports of the runners. Each function returns
// `{ passed, failed, skipped }`.

// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences start with one
const COLORS = /\u001b\[[0-9;]*m/g;

/** Reads the output of `cargo test`: one summary line for each test binary. */
export function countLibtest(output) {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const summary = /^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored;/gm;
  for (const [, passed, failed, ignored] of output.replace(COLORS, '').matchAll(summary)) {
    counts.passed += Number(passed);
    counts.failed += Number(failed);
    counts.skipped += Number(ignored);
  }
  return counts;
}

/** Reads the end of the output of `node --test`: one line for each total, after a sign. */
export function countNodeTest(output) {
  const plain = output.replace(COLORS, '');
  const total = (name) => Number(new RegExp(`^\\S ${name} (\\d+)$`, 'm').exec(plain)?.[1] ?? 0);
  return {
    passed: total('pass'),
    failed: total('fail') + total('cancelled'),
    skipped: total('skipped') + total('todo'),
  };
}

/** Reads the last line of `scripts/long/hermes.mjs`. */
export function countHermes(output) {
  const [, passed, failed] = /^hermes: (\d+) passed, (\d+) failed$/m.exec(output) ?? [];
  return { passed: Number(passed), failed: Number(failed), skipped: 0 };
}

/** Reads the last line of a script, which begins with its name. */
const countOwn = (name) => (output) => {
  const line = new RegExp(`^${name}: (\\d+) passed, (\\d+) failed, (\\d+) skipped$`, 'm');
  const [, passed, failed, skipped] = line.exec(output) ?? [];
  return { passed: Number(passed), failed: Number(failed), skipped: Number(skipped) };
};

export const countForeign = countOwn('foreign');
export const countMatrix = countOwn('matrix');
export const countWasm = countOwn('wasm');

/** Reads the report of Vitest's `json` reporter. */
export function countVitest(report) {
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests,
    skipped: report.numPendingTests + report.numTodoTests,
  };
}

/** Reads the report of Playwright's `json` reporter. */
export function countPlaywright({ stats }) {
  // There are no retries, so no test is flaky; one would count as failed.
  return {
    passed: stats.expected,
    failed: stats.unexpected + stats.flaky,
    skipped: stats.skipped,
  };
}
