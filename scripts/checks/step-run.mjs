// Runs a step once: its inputs and stamp, its commands, and its row in the table.

import { relative } from 'node:path';
import { ROOT, run } from '../lib/run.mjs';
import { secondsSince } from './table.mjs';

/**
 * A step that is about to run, or need not. All commands get `env`. With `isQuiet`, other steps run at the same time:
 * its output is printed as a whole, at its end.
 */
export class StepRun {
  /** The stamp of a step that need not run. */
  stamp;
  #step;
  #stamps;
  #inputs;
  #env;
  #isQuiet;
  #force;

  constructor(step, { stamps, force = false, env = {}, isQuiet = false }) {
    this.#step = step;
    this.#stamps = stamps;
    this.#inputs = stamps?.inputsOf(step);
    this.#env = env;
    this.#isQuiet = isQuiet && !step.alone && step.action === undefined;
    this.#force = force;
    if (!force) this.stamp = stamps?.find(step, this.#inputs);
  }

  get name() {
    return this.#step.name;
  }
  get needs() {
    return this.#step.needs;
  }
  get lane() {
    return this.#step.lane;
  }
  get alone() {
    return this.#step.alone;
  }
  get isFree() {
    return this.#step.isFree;
  }

  /** About how long it takes, in seconds. */
  get seconds() {
    return this.#stamps?.secondsOf(this.#step) ?? 0;
  }

  /** Runs the step; returns its row. A failed check does not reject. */
  async run() {
    const { name, action, commands = [], judge, cwd } = this.#step;
    console.log(this.#isQuiet ? `... ${name}` : `\n=== ${name} ===`);
    const started = performance.now();
    // Programs that the set-up has installed are inputs, too.
    this.#inputs = this.#stamps?.inputsOf(this.#step);
    const tests = this.#testsToRun();
    let output = '';
    let problem;
    try {
      await action?.();
      for (const [command, args, env] of commands) {
        const own = typeof env === 'function' ? env() : env;
        output += await run(command, [...args, ...this.#namesOf(tests)], {
          cwd,
          env: { ...this.#env, ...own },
          quiet: this.#isQuiet,
          capture: judge !== undefined,
        });
      }
    } catch (error) {
      output += error.output ?? '';
      problem = error.message;
    }
    const seconds = secondsSince(started);
    const { counts, passed } = verdict(judge, output, problem);
    if (problem === undefined && counts?.failed > 0) problem = `${counts.failed} failed`;
    // A runner that finds no tests is a failure, unless all changed files have no tests for it.
    const isWhole = tests === undefined || tests.ran.length === tests.all.length;
    if (problem === undefined && counts?.passed === 0 && isWhole) problem = 'no test has run';
    const isOk = problem === undefined;
    this.#stamps?.write(this.#step, this.#inputs, {
      isOk,
      ran: tests?.ran,
      passed: isOk ? tests?.ran : passed,
      counts,
      seconds,
    });
    if (this.#isQuiet) console.log(`\n=== ${name} ===\n${output.trimEnd()}`);
    console.log(`--- ${name}: ${problem ?? 'ok'}, ${seconds.toFixed(1)} s`);
    return { name, seconds, counts, problem, output, files: tests };
  }

  /** Skips the step; returns its row. `failed` is a step that it needs. */
  leaveOut(failed) {
    const { name } = this.#step;
    const problem = `not run: it needs ${failed}`;
    console.log(`--- ${name}: ${problem}`);
    return { name, seconds: 0, problem, output: '' };
  }

  /** Returns the test files that it runs; `undefined` if it has no test files. */
  #testsToRun() {
    if (this.#inputs?.tests === undefined) return undefined;
    const all = Object.keys(this.#inputs.tests);
    const ran = this.#force ? all : this.#stamps.staleTests(this.#step, this.#inputs);
    return { ran, all };
  }

  /** Returns the files to name to the runner: none if it runs all that it finds. */
  #namesOf(tests) {
    const { part, cwd = ROOT } = this.#step;
    if (tests === undefined || (part === undefined && tests.ran.length === tests.all.length))
      return [];
    return tests.ran.map((name) => relative(cwd, `${ROOT}/${name}`));
  }
}

/** Reads the report or the output of a step: `{ counts, passed }`. */
function verdict(judge, output, problem) {
  try {
    return judge?.(output) ?? {};
  } catch (error) {
    // A runner that crashed leaves no report. Without a crash, the missing report is a bug here.
    if (problem === undefined) throw error;
    return {};
  }
}
