// `npm run foreign`: runs test suites of others against the adapters, as their authors publish them. Each module in
// `scripts/long/foreign/` is one suite:
//
//   name        its name, for `--only`
//   source      { repo, commit } on GitHub, or { npm, version, integrity }; `with` is a list of further packages
//               and `paths` are the needed folders of a repository, if not all
//   run({ dir, packages, report })
//
// `dir` has the suite, `packages(name)` is the folder of a package of `with`, and `report` is a file that the run may
// write. It resolves to `{ passed, failed, skipped, exceptions: [{ test, reason }], failures }`, which `judged` of
// `lib/foreign.mjs` makes. An exception that passes counts as failed.
//
//   --only a,b            only these suites
//   --from name=folder    takes a repository from a checkout, or a bare git directory, instead of from GitHub
//   --as-built            does not set up or build the package

import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { build as buildPackages } from '../build.mjs';
import { CACHE, fetched } from '../lib/foreign.mjs';
import { CommandFailed, ROOT, runMain } from '../lib/run.mjs';
import { setup } from '../setup.mjs';

const FOLDER = join(ROOT, 'scripts', 'long', 'foreign');

async function suites(only) {
  const files = readdirSync(FOLDER).filter((file) => file.endsWith('.mjs'));
  const all = await Promise.all(files.map((file) => import(join(FOLDER, file))));
  const names = all.map(({ name }) => name);
  const unknown = only?.find((name) => !names.includes(name));
  if (unknown) throw new CommandFailed(`there is no suite ${unknown}, but ${names.join(', ')}`);
  return all.filter(({ name }) => !only || only.includes(name));
}

const nameOf = ({ npm, version, repo, commit }) =>
  npm ? `${npm}@${version}` : `${repo.replace(/^.*github\.com\//, '')} at ${commit.slice(0, 7)}`;

async function result({ name, source, run }, from) {
  const what = nameOf(source);
  const report = join(CACHE, `${name}.json`);
  mkdirSync(CACHE, { recursive: true });
  rmSync(report, { force: true });
  try {
    const found = await fetched(name, source, from);
    return { name, what, ...(await run({ ...found, report })) };
  } catch (error) {
    if (!(error instanceof CommandFailed)) console.error(error);
    const failures = [error.message];
    return { name, what, passed: 0, failed: 1, skipped: 0, exceptions: [], failures };
  }
}

function print(results) {
  const rows = results.map(({ name, what, passed, failed, skipped, exceptions }) =>
    [name, what, passed, failed, skipped, exceptions.length].map(String),
  );
  const table = [['suite', 'version', 'passed', 'failed', 'skipped', 'exceptions'], ...rows];
  const widths = table[0].map((_, at) => Math.max(...table.map((row) => row[at].length)));
  const padded = (cell, at) => (at < 2 ? cell.padEnd(widths[at]) : cell.padStart(widths[at]));
  console.log(`\n${table.map((row) => row.map(padded).join('  ').trimEnd()).join('\n')}`);
  for (const { name, exceptions, failures = [] } of results) {
    for (const { test, reason } of exceptions)
      console.log(`\n${name}, exception: ${test}\n  ${reason}`);
    for (const failure of failures) console.log(`\n${name}, failed: ${failure}`);
  }
  const total = (what) => results.reduce((sum, one) => sum + one[what], 0);
  console.log(
    `\nforeign: ${total('passed')} passed, ${total('failed')} failed, ${total('skipped')} skipped`,
  );
  if (total('failed') > 0) process.exitCode = 1;
}

await runMain(async () => {
  const { values } = parseArgs({
    options: {
      only: { type: 'string' },
      from: { type: 'string', multiple: true },
      'as-built': { type: 'boolean' },
    },
  });
  const from = new Map();
  for (const one of values.from ?? []) {
    const [, name, folder] = /^([^=]+)=(.+)$/.exec(one) ?? [];
    if (!name) throw new CommandFailed(`--from takes name=folder, not ${one}`);
    from.set(name, folder);
  }
  if (!values['as-built']) {
    await setup({ packages: 'test', browser: 'chromium' });
    await buildPackages();
  }
  const results = [];
  for (const suite of await suites(values.only?.split(','))) {
    console.log(`${suite.name}: ${nameOf(suite.source)}`);
    results.push(await result(suite, from.get(suite.name)));
  }
  print(results);
});
