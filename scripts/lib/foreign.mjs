// Fetches the suites of `npm run foreign`, and judges their results.

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { CommandFailed, ROOT, run } from './run.mjs';

export const CACHE = join(ROOT, '.cache', 'foreign');

const CONFIG = join(ROOT, 'scripts', 'long', 'foreign', 'suites', 'vitest.config.mjs');

/** Fills a folder, all of it or not at all. */
async function filled(folder, fill) {
  if (existsSync(folder)) return folder;
  const part = `${folder}.part`;
  rmSync(part, { recursive: true, force: true });
  mkdirSync(part, { recursive: true });
  await fill(part);
  renameSync(part, folder);
  return folder;
}

/** Returns the folder of a package: the installed one in this version, or else the registry's. */
async function packageFolder({ npm, version, integrity }) {
  const installed = join(ROOT, 'node_modules', npm);
  const manifest = join(installed, 'package.json');
  if (existsSync(manifest) && JSON.parse(readFileSync(manifest, 'utf8')).version === version) {
    return installed;
  }
  // Below `node_modules`, so that packages of one folder find each other.
  const folder = join(CACHE, 'packages', 'node_modules', npm);
  const stamp = join(folder, '.version');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') !== version) {
    rmSync(folder, { recursive: true });
  }
  return filled(folder, async (part) => {
    const packed = await run('npm', ['pack', '--silent', `${npm}@${version}`], {
      cwd: part,
      quiet: true,
    });
    const tarball = join(part, packed.trim().split('\n').at(-1));
    const hash = createHash('sha512').update(readFileSync(tarball)).digest('base64');
    if (`sha512-${hash}` !== integrity) {
      throw new CommandFailed(`${npm}@${version} is not what it was: its hash is sha512-${hash}`);
    }
    await run('tar', ['-xzf', tarball, '-C', part, '--strip-components=1']);
    rmSync(tarball);
    writeFileSync(join(part, '.version'), version);
  });
}

/** Returns the files of a commit: of a repository on this machine, or of GitHub. */
async function repositoryFolder(name, { repo, commit, paths = [] }, from) {
  return filled(join(CACHE, `${name}-${commit}`), async (part) => {
    const clone = join(CACHE, `${name}.git`);
    const git = from === undefined ? clone : resolve(from);
    // Another user's folder is only read.
    const ask = (...args) =>
      run('git', ['-c', 'safe.directory=*', '-C', git, ...args], { quiet: true });
    try {
      if (from === undefined) {
        mkdirSync(clone, { recursive: true });
        await ask('init', '--bare', '--quiet');
        await ask('fetch', '--depth', '1', '--quiet', repo, commit);
      }
      const tarball = `${part}.tar`;
      await ask('archive', '--output', tarball, commit, ...paths);
      await run('tar', ['-xf', tarball, '-C', part]);
      rmSync(tarball);
    } catch (error) {
      if (!(error instanceof CommandFailed)) throw error;
      const why = error.output.trim() || error.message;
      throw new CommandFailed(
        from === undefined
          ? `${repo} cannot be fetched: give a checkout by --from ${name}=folder (${why})`
          : `${from} has no commit ${commit} (${why})`,
      );
    } finally {
      rmSync(clone, { recursive: true, force: true });
    }
  });
}

/** Returns the arguments of a suite's `run`, except `report`. */
export async function fetched(name, source, from) {
  const folders = new Map();
  for (const one of source.with ?? []) folders.set(one.npm, await packageFolder(one));
  const dir = source.npm ? await packageFolder(source) : await repositoryFolder(name, source, from);
  return { dir, packages: (npm) => folders.get(npm) };
}

/**
 * Compares results with known failures. `tests` are `{ test, state, message }` with the states `passed`, `failed` and
 * `skipped`; `known` are tests that fail for a reason: `{ test, reason }`. A known failure that passes counts as
 * failed, and so does a run without tests.
 */
export function judged(tests, known = []) {
  const found = new Map(known.map((one) => [one.test, 0]));
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const failures = [];
  const exceptions = [];
  for (const { test, state, message } of tests) {
    const exception = state === 'failed' && known.find((one) => one.test === test);
    if (exception) {
      exceptions.push(exception);
      found.set(test, found.get(test) + 1);
      continue;
    }
    counts[state] += 1;
    if (state === 'failed') failures.push(message ? `${test}\n  ${message}` : test);
  }
  for (const [test, times] of found) {
    if (times > 0) continue;
    failures.push(`${test}\n  is an exception, and does not fail: take it off the list`);
    counts.failed += 1;
  }
  if (tests.length === 0) {
    failures.push('there are no tests');
    counts.failed += 1;
  }
  return { ...counts, exceptions, failures };
}

/** Runs test files with Vitest, and returns their results for `judged`. The files read `env`. */
export async function runVitest(files, { report, env, config = CONFIG }) {
  const vitest = join(
    dirname(
      createRequire(join(ROOT, 'js', 'hedgerow', 'package.json')).resolve('vitest/package.json'),
    ),
    'vitest.mjs',
  );
  const args = ['run', '--config', config, '--reporter=json', `--outputFile=${report}`, ...files];
  try {
    await run('node', [vitest, ...args], { env, quiet: true });
  } catch (error) {
    // The report has the failed tests.
    if (!existsSync(report)) throw new CommandFailed(`${error.message}\n${error.output}`);
  }
  const { testResults } = JSON.parse(readFileSync(report, 'utf8'));
  const states = { passed: 'passed', failed: 'failed' };
  return testResults.flatMap(({ name, status, message, assertionResults }) => {
    const tests = assertionResults.map(({ fullName, status, failureMessages }) => ({
      test: fullName,
      state: states[status] ?? 'skipped',
      message: failureMessages[0]?.split('\n')[0],
    }));
    // A file that could not be run has no tests.
    return status === 'failed' && !tests.some(({ state }) => state === 'failed')
      ? [...tests, { test: name, state: 'failed', message }]
      : tests;
  });
}
