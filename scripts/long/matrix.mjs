// `npm run matrix [-- --only vite,webpack] [--sample] [--tarballs DIR] [--as-built] [--keep]`: packs the packages once,
// and runs the same scenario in the toolchains of apps (`examples/matrix`). `--sample` runs only tools that the root
// has installed, and fetches no package. `--as-built` packs the packages as they are built, and `--tarballs` takes
// packed ones.

import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Visits } from '../../examples/matrix/lib/visit.mjs';
import { isInRoot, Workshop } from '../../examples/matrix/lib/workshop.mjs';
import { VERSIONS } from '../../examples/matrix/versions.mjs';
import { packAsBuilt, tarballsIn } from '../lib/pack.mjs';
import { PUBLISHED, packageDir } from '../lib/published.mjs';
import { CommandFailed, ROOT, run, runMain } from '../lib/run.mjs';
import { setup } from '../setup.mjs';

const TOOLS = join(ROOT, 'examples', 'matrix', 'tools');
const WORK = join(ROOT, '.cache', 'matrix');

/** Reads the tools by their names, which are the names of their files. */
async function readTools() {
  const files = (await readdir(TOOLS)).filter((file) => file.endsWith('.mjs')).sort();
  const read = async (file) => {
    const { default: tool } = await import(join(TOOLS, file));
    return {
      packages: [],
      title: file.replace('.mjs', ''),
      ...tool,
      name: file.replace('.mjs', ''),
    };
  };
  return Promise.all(files.map(read));
}

/** Returns the tarballs of the packages by their names. */
async function packed({ tarballs, 'as-built': asBuilt }) {
  if (tarballs !== undefined) return tarballsIn(tarballs);
  const to = join(WORK, '.tarball'); // no tool has such a name
  await rm(to, { recursive: true, force: true });
  await mkdir(to, { recursive: true });
  if (asBuilt) await packAsBuilt(to);
  else {
    await setup({ packages: ['test', 'release'], browser: 'chromium', sqlite: true });
    // As for publishing: only outdated parts are built.
    for (const folder of PUBLISHED)
      await run('npm', ['pack', '--pack-destination', to], {
        cwd: packageDir(folder),
        quiet: true,
      });
  }
  return tarballsIn(to);
}

/** Whether a case is in the sample: `sample` of its tool is true, or names it. */
const isSampled = ({ sample = false }, name) =>
  Array.isArray(sample) ? sample.includes(name) : sample;

/** Summarizes a result, of one scenario or of several by their names. */
function summary(results) {
  const all = 'ok' in results ? [results] : Object.values(results);
  const failed = all.filter(({ ok }) => !ok);
  if (failed.length > 0)
    throw new Error(failed.map(({ error, stack }) => stack ?? error).join('; '));
  const { requests, bytes } = all.find((one) => one.requests !== undefined) ?? {};
  const start = requests === undefined ? '' : `${requests} / ${bytes.toLocaleString('en')}`;
  const checks = all.reduce((sum, { checked = [] }) => sum + checked.length, 0);
  return { start, checks, note: all.map((one) => one.note ?? '').join('') };
}

const secondsSince = (began) => ((performance.now() - began) / 1000).toFixed(1);

async function runCase(shop, tool, name, one) {
  const row = { tool: tool.title, version: versionOf(tool), case: name };
  if (typeof one === 'string') return { ...row, result: 'not run', why: one };
  const began = performance.now();
  try {
    const { start, checks, note } = summary(await one(shop));
    return { ...row, result: 'ok', seconds: secondsSince(began), start, checks, why: note };
  } catch (error) {
    const why = error.stack?.includes(error.message) ? error.message : String(error.stack ?? error);
    return { ...row, result: 'FAILED', seconds: secondsSince(began), why };
  } finally {
    await shop.tidy();
  }
}

/** Returns the version of the first package of a tool, or the tool's own. */
const versionOf = ({ version, packages: [first] }) => version ?? VERSIONS[first] ?? process.version;

async function runTool(tool, { tarballs, sample, keep, visits }) {
  const shop = new Workshop(join(WORK, tool.name), visits);
  const rows = [];
  const add = (row) => {
    rows.push(row);
    const figures = [row.seconds && `${row.seconds} s`, row.start].filter(Boolean).join(', ');
    console.log(`${row.result.padEnd(8)}${row.tool} ${row.version}: ${row.case}  ${figures}`);
    if (row.why) console.log(`        ${row.why.replaceAll('\n', '\n        ')}`);
  };
  const cases = Object.entries(tool.cases ?? {}).filter(
    ([name]) => !sample || isSampled(tool, name),
  );
  try {
    if (cases.some(([, one]) => typeof one !== 'string')) {
      Object.assign(shop, { tarballs, isSample: sample });
      await shop.begin(tool.manifest);
      if (sample) await shop.unpack();
      else await shop.install(tool.packages, tool);
      await tool.prepare?.(shop);
    }
    for (const [name, one] of cases) add(await runCase(shop, tool, name, one));
  } catch (error) {
    add({
      tool: tool.title,
      version: versionOf(tool),
      case: 'preparation',
      result: 'FAILED',
      why: error.message,
    });
  }
  // Packages of tools are large.
  if (!keep) await rm(shop.dir, { recursive: true, force: true });
  return rows;
}

function options() {
  try {
    return parseArgs({
      options: {
        only: { type: 'string' },
        tarballs: { type: 'string' },
        sample: { type: 'boolean', default: false },
        'as-built': { type: 'boolean', default: false },
        keep: { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    throw new CommandFailed(error.message);
  }
}

function chosen(tools, { only, sample }) {
  const names = only?.split(',');
  const unknown = names?.filter((name) => !tools.some((tool) => tool.name === name)) ?? [];
  if (unknown.length > 0) {
    const known = tools.map(({ name }) => name).join(', ');
    throw new CommandFailed(`no such tool: ${unknown.join(', ')}; there are ${known}`);
  }
  const named = names === undefined ? tools : tools.filter(({ name }) => names.includes(name));
  const wanted = sample ? named.filter((tool) => tool.sample) : named;
  const missing = sample
    ? wanted.flatMap(({ packages }) => packages.filter((one) => !isInRoot(one)))
    : [];
  if (missing.length > 0) {
    throw new CommandFailed(
      `not in the root in the versions of versions.mjs: ${missing.join(', ')}`,
    );
  }
  return wanted;
}

function table(rows) {
  console.log(
    '\n| tool | version | case | result | s | start: requests / bytes |\n|---|---|---|---|---|---|',
  );
  for (const row of rows) {
    const { tool, version, result, seconds = '', start = '' } = row;
    console.log(`| ${tool} | ${version} | ${row.case} | ${result} | ${seconds} | ${start} |`);
  }
}

async function main() {
  const given = options();
  const tools = chosen(await readTools(), given);
  const tarballs = await packed(given);
  const visits = new Visits();
  const rows = [];
  try {
    for (const tool of tools) rows.push(...(await runTool(tool, { ...given, tarballs, visits })));
  } finally {
    await visits.close();
  }
  table(rows);
  const count = (result) => rows.filter((row) => row.result === result).length;
  console.log(
    `\nmatrix: ${count('ok')} passed, ${count('FAILED')} failed, ${count('not run')} skipped`,
  );
  if (count('FAILED') > 0) throw new CommandFailed('the package does not work in all of these');
}

// Otherwise an interrupt would leave servers of tools running.
for (const name of ['SIGINT', 'SIGTERM']) process.once(name, () => process.exit(130));
await runMain(main);
