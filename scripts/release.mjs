// `npm run release -- --dry-run [--as-built]`: does everything that a release does, but changes no file of the checkout
// and publishes nothing; `--as-built` takes the packages as they are built. `--version` makes the version: it raises
// all packages by the changesets and moves the unreleased entries of the changelog. `--changed REF` fails if the
// package has changed since REF and no changeset says what users see of it. Without an option it publishes, which only
// CI may do.

import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from './build.mjs';
import { buildForReactNative } from './build-react-native.mjs';
import { refuseDevBuild } from './lib/dev-build.mjs';
import { manifestOf, PUBLISHED } from './lib/published.mjs';
import { notesOf } from './lib/release-changelog.mjs';
import { gitFaults, unsaidChanges } from './lib/release-git.mjs';
import { OPTIONS } from './lib/release-options.mjs';
import { checkTarballs, packRelease, smokeTest } from './lib/release-tarball.mjs';
import { copyForVersion, makeVersion, standing } from './lib/release-version.mjs';
import { CommandFailed, ROOT, run, runMain } from './lib/run.mjs';
import { setup } from './setup.mjs';

/** The outputs of a release: the tarballs and the notes. */
const WORK = join(ROOT, '.cache', 'release');

/** The last lines to print of a failed command. */
const LAST_LINES = 60;

const short = (file) => relative(ROOT, file);
const figure = (count) => count.toLocaleString('en');

/** Runs a part of a release, and prints its time and its findings. */
async function part(name, work) {
  const began = performance.now();
  let said;
  try {
    said = await work();
  } catch (error) {
    if (error.output) console.log(error.output.trimEnd().split('\n').slice(-LAST_LINES).join('\n'));
    throw error;
  }
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  console.log(`${name.padEnd(12)}${`${seconds} s`.padStart(7)}   ${said}`);
}

/** Writes the sizes as a table; sizes over their budget fail `check-size`, which `npm test` runs. */
function sizeTable(rows) {
  const line = (...cells) => `| ${cells.join(' | ')} |`;
  return [
    line('entry', 'bytes, gzipped', 'budget'),
    '|---|--:|--:|',
    ...rows.map(({ name, bytes, budget }) =>
      line(name, figure(bytes), budget === undefined ? '' : figure(budget)),
    ),
  ].join('\n');
}

/** Builds the package, or checks that it is built. */
async function built(asBuilt) {
  if (!asBuilt) {
    await setup({ packages: 'release' });
    await build();
  }
  refuseDevBuild();
  await buildForReactNative();
  return 'all packages, with React Native';
}

/** Packs the packages with the version of the folder `root`, and checks them in every way. Returns the tarballs. */
async function packedAndChecked(root, { 'as-built': asBuilt }) {
  let tarballs;
  await part('build', () => built(asBuilt));
  await part('pack', async () => {
    tarballs = await packRelease(root, WORK);
    return Object.values(tarballs).map(short).join(' ');
  });
  await part('contents', async () => {
    const { files, packedBytes, unpackedBytes } = await checkTarballs(tarballs, WORK, root);
    return `${files} files, ${figure(packedBytes)} bytes packed, ${figure(unpackedBytes)} unpacked`;
  });
  const lints = part('lints', async () => {
    const args = ['scripts/long/matrix.mjs', '--only', 'package', '--sample', '--tarballs', WORK];
    const said = await run('node', args, { quiet: true });
    return /^matrix: .*$/m.exec(said)[0];
  });
  const smoke = part('smoke', async () => {
    const manifests = PUBLISHED.map((folder) => manifestOf(folder, root));
    const { checks, entries, peers } = await smokeTest(tarballs, manifests);
    return `installed: ${checks} checks of the app, ${entries} entries; ${peers} more ask for their peer`;
  });
  // Both to their end: neither must go on when this has failed.
  const outcomes = await Promise.allSettled([lints, smoke]);
  const failed = outcomes.find(({ status }) => status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return tarballs;
}

async function writeNotes(root, version) {
  const changes = notesOf(await readFile(join(root, 'CHANGELOG.md'), 'utf8'), version);
  // Imported late: its packages are only there once `setup` has run.
  const { sizes } = await import('./check-size.mjs');
  const { rows } = await sizes();
  const file = join(WORK, 'notes.md');
  await writeFile(file, `${changes}\n### Sizes\n\n${sizeTable(rows)}\n`);
  console.log(`\n${sizeTable(rows)}\n\nnotes: ${short(file)}`);
}

/** A version such as `1.0.0-beta.1` is only for people who ask for it. */
const channelOf = (version) => (version.includes('-') ? 'next' : 'latest');

/** Publishes the packages, the store first; returns npm's output. */
async function publish(tarballs, version, ...args) {
  const how = ['--access', 'public', '--tag', channelOf(version), ...args];
  const quiet = args.includes('--dry-run');
  let said = '';
  for (const tarball of Object.values(tarballs))
    said += await run('npm', ['publish', tarball, ...how], { quiet });
  return said;
}

/** Removes the files of an earlier run. */
async function clean() {
  await rm(WORK, { recursive: true, force: true });
  await mkdir(WORK, { recursive: true });
}

async function dryRun(options) {
  await clean();
  const root = join(WORK, 'checkout');
  const { isPending, isMakeable, version: current } = await standing(ROOT);
  await copyForVersion(root);
  // Without changes, or without a changeset that raises the version, the current one is used.
  const version = isMakeable ? await makeVersion(root) : current;
  console.log(`a dry run of ${version}; the checkout has ${current}\n`);
  const tarballs = await packedAndChecked(root, options);
  await part('publish', async () => {
    const said = await publish(tarballs, version, '--dry-run', '--offline');
    return said.match(/^\+ .*$/gm)?.join(' ') ?? said;
  });
  await writeNotes(root, version);
  const faults = [
    ...(isPending ? ['the version is not made: `npm run release -- --version`'] : []),
    ...(isPending && !isMakeable ? ['no changeset says how much it is raised'] : []),
    ...gitFaults(`v${version}`),
  ];
  for (const fault of faults) console.log(`it would not be published now: ${fault}`);
}

async function release(options) {
  const { isPending, isReleased, version } = await standing(ROOT);
  const isTrusted = process.env.ACTIONS_ID_TOKEN_REQUEST_URL !== undefined;
  const faults = [
    ...(isTrusted ? [] : ['only CI publishes (.github/workflows/release.yml): try --dry-run']),
    ...(isPending ? ['something is not in a version yet: `npm run release -- --version`'] : []),
    ...(isReleased ? [] : [`CHANGELOG.md has no ${version}`]),
    ...gitFaults(`v${version}`),
  ];
  if (faults.length > 0) throw new CommandFailed(`not released:\n  ${faults.join('\n  ')}`);
  await clean();
  console.log(`a release of ${version}\n`);
  const tarballs = await packedAndChecked(ROOT, options);
  await writeNotes(ROOT, version);
  await publish(tarballs, version, '--provenance');
}

async function checkChanged(ref) {
  const files = unsaidChanges(ref);
  if (files.length === 0) return console.log(`what users see since ${ref} is said`);
  throw new CommandFailed(
    `since ${ref} ${files.length} files of the package have changed, such as ${files[0]}, and nothing says what users see: ` +
      'run `npx changeset`, or `npx changeset --empty` if they see nothing',
  );
}

async function main() {
  let options;
  try {
    options = parseArgs({ options: OPTIONS }).values;
  } catch (error) {
    throw new CommandFailed(error.message);
  }
  if (options.changed !== undefined) return checkChanged(options.changed);
  if (options.version) return console.log(`the version is ${await makeVersion(ROOT)}`);
  await (options['dry-run'] ? dryRun(options) : release(options));
}

await runMain(main);
