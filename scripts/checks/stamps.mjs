// Keeps stamps of passed steps: a step runs again when one of its inputs has changed; if a step has test files, only
// files with changed inputs run.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ask, ROOT } from '../lib/run.mjs';
import { Imports } from './imports.mjs';

const DIR = join(ROOT, '.cache', 'test', 'stamps');

/**
 * The stamps of a tier, `everyday` or `deep`. Without `files`, where git does not answer, no step is stamped.
 * `versionsOf` returns the versions of the programs that a step uses, as a text.
 */
export class Stamps {
  #dir;
  #files;
  #imports;
  #tier;
  #versionsOf;
  #commit;

  constructor({ files, tier, versionsOf = () => '', dir = DIR }) {
    this.#dir = dir;
    this.#files = files;
    this.#imports = files && new Imports(files);
    this.#tier = tier;
    this.#versionsOf = versionsOf;
    this.#commit = ask('git', ['rev-parse', '--short', 'HEAD']);
  }

  /**
   * Returns the current inputs of a step: one hash for all of them, or one for each test file. `undefined` if they are
   * unknown: then the step always runs.
   */
  inputsOf(step) {
    if (this.#files === undefined || step.inputs === undefined) return undefined;
    const commands = (step.commands ?? []).map(([command, args]) => [command, args]);
    const { version, platform, arch } = process;
    const more = JSON.stringify([version, platform, arch, commands, this.#versionsOf(step)]);
    const shared = this.#files.named(step.inputs);
    if (step.tests === undefined) return { hash: this.#files.hash(shared, more) };
    const tests = testsOf(step, this.#files.names).map((name) => {
      const names = [...new Set([...shared, ...this.#imports.from(name)])].sort();
      return [name, this.#files.hash(names, more)];
    });
    return { tests: Object.fromEntries(tests) };
  }

  /** Returns the stamp of a step that need not run; `undefined` if it must. */
  find(step, inputs) {
    const stamp = this.#read(step);
    if (inputs === undefined || stamp === undefined) return undefined;
    const isCurrent = inputs.tests
      ? this.staleTests(step, inputs).length === 0
      : stamp.hash === inputs.hash;
    return isCurrent ? stamp : undefined;
  }

  /** Returns the test files whose current inputs have not passed. */
  staleTests(step, { tests }) {
    const passed = this.#read(step)?.tests ?? {};
    return Object.keys(tests).filter((name) => passed[name] !== tests[name]);
  }

  /**
   * Notes the end of a step that ran with these `inputs`: stamps the test files of `ran` that `passed`, even if the
   * step failed.
   */
  write(step, inputs, { isOk, ran = [], passed = [], counts, seconds }) {
    if (inputs === undefined) return;
    const before = this.#read(step);
    const note = { seconds: isOk ? seconds : before?.seconds, counts, commit: this.#commit };
    if (inputs.tests) {
      note.tests = { ...before?.tests };
      for (const name of ran) {
        if (passed.includes(name)) note.tests[name] = inputs.tests[name];
        else delete note.tests[name];
      }
    } else if (isOk) note.hash = inputs.hash;
    mkdirSync(this.#dir, { recursive: true });
    writeFileSync(this.#path(step), JSON.stringify(note));
  }

  /** Returns how long the last pass of a step took, in seconds; without one, the step's own estimate. */
  secondsOf(step) {
    return this.#read(step)?.seconds ?? step.seconds ?? 0;
  }

  #read(step) {
    try {
      return JSON.parse(readFileSync(this.#path(step), 'utf8'));
    } catch {
      return undefined; // It has not run here yet.
    }
  }

  #path({ name, isTiered = false }) {
    return join(this.#dir, `${isTiered ? `${this.#tier}-` : ''}${name}.json`);
  }
}

/** Returns the test files of a step, or of its part. */
export function testsOf({ tests, part = { nth: 1, of: 1 } }, names) {
  return names.filter(tests).filter((_, at) => at % part.of === part.nth - 1);
}
