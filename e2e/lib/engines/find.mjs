// Where browsers are.

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

/** What a program says of its version, or `undefined` when it cannot be run. */
export function versionOf(path) {
  const { status, stdout } = spawnSync(path, ['--version'], { encoding: 'utf8', timeout: 30_000 });
  return status === 0 ? stdout.trim() : undefined;
}

/** The path that the variable names, or else the first that can be run; `undefined` for none. */
export function firstWorking(variable, paths) {
  const chosen = process.env[variable];
  if (!chosen) return paths.find((path) => existsSync(path) && versionOf(path) !== undefined);
  if (existsSync(chosen)) return chosen;
  throw new Error(`${variable} is ${chosen}, and there is no such file`);
}
