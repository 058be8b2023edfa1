// Makes commands for steps of both tiers, and reads their reports.

import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { findBrowser } from '../lib/browser.mjs';
import { ROOT } from '../lib/run.mjs';
import { countPlaywright, countVitest } from './counts.mjs';

const REPORT_DIR = join(ROOT, '.cache', 'test');

/** Removes reports of an earlier run, so that only this run's reports are counted. */
export function clearReports() {
  mkdirSync(REPORT_DIR, { recursive: true });
  for (const name of readdirSync(REPORT_DIR)) {
    if (name.endsWith('.json')) rmSync(join(REPORT_DIR, name));
  }
}

/** Reads a runner's report and deletes it, so that it is never counted twice. */
function takeReport(name) {
  const file = join(REPORT_DIR, name);
  const report = JSON.parse(readFileSync(file, 'utf8'));
  rmSync(file);
  return report;
}

const inRoot = (path) => relative(ROOT, path).split(sep).join('/');

/** Young objects of tests get more room: their garbage is collected less often. */
const ROOMY = { NODE_OPTIONS: '--max-semi-space-size=64' };

/** Ends a run in Node that hangs. In browsers the limits of tests always hold. */
const STUCK = join(ROOT, 'js', 'hedgerow', 'test', 'support', 'stuck-reporter.ts');

/** Makes a step of Vitest with a report: `report` is its name, `args` are its arguments, before the files to run. */
export function vitest({
  report,
  program = ['vitest', ['run']],
  cwd = ROOT,
  env = ROOMY,
  reporters = [STUCK],
}) {
  const outputs = [
    ...['default', 'json', ...reporters].map((reporter) => `--reporter=${reporter}`),
    `--outputFile.json=${join(REPORT_DIR, report)}`,
  ];
  const [name, args] = program;
  return {
    cwd,
    commands: [[name, [...args, ...outputs], env]],
    judge: () => {
      const read = takeReport(report);
      const passed = read.testResults.filter(({ status }) => status === 'passed');
      return { counts: countVitest(read), passed: passed.map((one) => inRoot(one.name)) };
    },
  };
}

/** Makes a step of Playwright with a report; `args` are its arguments. */
export function playwright({ report, program, cwd = ROOT, env = {} }) {
  const [name, args] = program;
  const all = () => ({ CHROMIUM_PATH: findBrowser(), E2E_REPORT: report, ...env });
  return {
    cwd,
    // A file may have no test for the projects that run.
    commands: [[name, [...args, '--pass-with-no-tests'], all]],
    judge: () => {
      const read = takeReport(report);
      const passed = read.suites.filter((suite) => specsOf(suite).every(({ ok }) => ok));
      const dir = inRoot(read.config.rootDir);
      return { counts: countPlaywright(read), passed: passed.map(({ file }) => `${dir}/${file}`) };
    },
  };
}

/** Returns all tests of a file, in groups or not. */
const specsOf = ({ specs = [], suites = [] }) => [...specs, ...suites.flatMap(specsOf)];

/** Makes the commands that check the types of projects. */
export const typed = (projects) => projects.map((one) => ['tsc', ['--noEmit', '-p', one]]);

/** A step whose output says how many tests have passed. */
export const counted = (count) => ({ judge: (output) => ({ counts: count(output) }) });

/** Splits a step into parts: each has every `of`th file of its tests. */
export function inParts(of, step) {
  return Array.from({ length: of }, (_, at) => ({
    ...step,
    name: `${step.name}-${at + 1}`,
    seconds: Math.ceil(step.seconds / of),
    part: { nth: at + 1, of },
  }));
}
