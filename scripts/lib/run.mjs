// Runs the commands that the scripts are made of. Uses Node's built-ins only, since
// `setup.mjs` needs it before `npm ci` has run.

import { spawn, spawnSync } from 'node:child_process';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The root of the repository. */
export const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

// Tools of the repository come first, so that a different version on the machine does
// no harm; Cargo's folder comes last, for shells that have not read its `env` file.
const SEARCH_PATH = [
  join(ROOT, 'node_modules', '.bin'),
  process.env.PATH ?? '',
  join(process.env.CARGO_HOME ?? join(homedir(), '.cargo'), 'bin'),
].join(delimiter);

const isWindows = process.platform === 'win32';

function options({ cwd = ROOT, env = {} }) {
  // A value of `undefined` takes the variable away.
  return { cwd, env: { ...process.env, PATH: SEARCH_PATH, ...env }, shell: isWindows };
}

/** A command that failed: `message` says which and how. */
export class CommandFailed extends Error {
  /** What it wrote, as far as that was captured. */
  output = '';
  exitCode = 1;
}

/**
 * Runs a command to its end with its output on the terminal. Rejects with `CommandFailed` when it does not exit
 * with 0. With `capture` it returns what the command wrote to stdout, too; with `quiet` what it wrote to stdout
 * and stderr, of which the terminal gets nothing.
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

/** What a command writes to stdout, trimmed, or `undefined` when it fails or is not there. */
export function ask(command, args = [], rest = {}) {
  const result = spawnSync(command, args, { ...options(rest), encoding: 'utf8' });
  return result.status === 0 ? result.stdout.trim() : undefined;
}

/** Ends the process with one clear line when `main` fails; a stack only for our own bugs. */
export async function runMain(main) {
  try {
    await main();
  } catch (error) {
    console.error(error instanceof CommandFailed ? `\nfailed: ${error.message}` : error);
    process.exitCode = error.exitCode ?? 1;
  }
}
