// Runs commands for the scripts. Uses only built-ins of Node, since `setup.mjs` needs it before
// `npm ci` has run.

import { spawn, spawnSync } from 'node:child_process';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The root of the repository. */
export const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/**
 * The folders of commands. Tools of the repository come first, so that they are used even if the machine has other
 * versions. Cargo's folder comes last, for shells that have not read its `env` file.
 */
export const SEARCH_PATH = [
  join(ROOT, 'node_modules', '.bin'),
  process.env.PATH ?? '',
  join(process.env.CARGO_HOME ?? join(homedir(), '.cargo'), 'bin'),
].join(delimiter);

const isWindows = process.platform === 'win32';

function options({ cwd = ROOT, env = {} }) {
  // A value of `undefined` removes the variable.
  return { cwd, env: { ...process.env, PATH: SEARCH_PATH, ...env }, shell: isWindows };
}

/** A command that failed: `message` says which and how. */
export class CommandFailed extends Error {
  /** The captured part of its output. */
  output = '';
  exitCode = 1;
}

/**
 * Runs a command to its end, with its output on the terminal. Rejects with `CommandFailed` unless it exits with 0. With
 * `capture` it also returns the command's stdout. With `quiet` it returns stdout and stderr, and prints no output on
 * the terminal.
 */
export async function run(command, args = [], { capture = false, quiet = false, ...rest } = {}) {
  const stdout = capture || quiet ? 'pipe' : 'inherit';
  const stdio = ['inherit', stdout, quiet ? 'pipe' : 'inherit'];
  const child = spawn(command, args, { ...options(rest), stdio });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text) => {
      output += text;
      if (!quiet) process.stdout.write(text);
    });
  }
  const { code, problem } = await new Promise((resolve) => {
    child.on('error', (error) => resolve({ problem: error.message }));
    child.on('close', (code, signal) => resolve({ code, problem: `exit ${code ?? signal}` }));
  });
  if (code === 0) return output;
  const failure = new CommandFailed(`${[command, ...args].join(' ')}: ${problem}`);
  throw Object.assign(failure, { output, exitCode: code ?? 1 });
}

/** Returns the trimmed stdout of a command; `undefined` if the command fails or does not exist. */
export function ask(command, args = [], rest = {}) {
  const result = spawnSync(command, args, { ...options(rest), encoding: 'utf8' });
  return result.status === 0 ? result.stdout.trim() : undefined;
}

/** Runs `main`. If that fails, exits with one clear line; prints a stack only for bugs of the scripts. */
export async function runMain(main) {
  try {
    await main();
  } catch (error) {
    console.error(error instanceof CommandFailed ? `\nfailed: ${error.message}` : error);
    process.exitCode = error.exitCode ?? 1;
  }
}
