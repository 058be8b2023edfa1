// The version of the next release: raised by changesets, with its section in the changelog.

import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { COPIES } from './pack.mjs';
import { manifestOf, PUBLISHED } from './published.mjs';
import { hasUnreleased, isReleased, readChangelog, withVersion } from './release-changelog.mjs';
import { readChangesets, removeChangesets } from './release-changesets.mjs';
import { CommandFailed, ROOT, run } from './run.mjs';

const readJson = async (file) => JSON.parse(await readFile(file, 'utf8'));
/** The names of a version's numbers, as changesets give them. */
const BUMPS = ['major', 'minor', 'patch'];

const versionIn = async (root) =>
  (await readJson(join(root, 'js', 'hedgerow', 'package.json'))).version;
const changelogIn = (root) => readFile(join(root, 'CHANGELOG.md'), 'utf8');

/** Returns the state of a checkout's release: its version, and its unreleased changes. */
export async function standing(root) {
  const version = await versionIn(root);
  const changelog = readChangelog(await changelogIn(root));
  const changesets = await readChangesets(root);
  const raises = changesets.some(({ bump }) => bump !== undefined);
  const isOut = isReleased(changelog, version);
  const isPending = raises || hasUnreleased(changelog);
  return {
    version,
    isReleased: isOut,
    isPending,
    /** Whether `makeVersion` can determine the version. */
    isMakeable: isPending && (raises || !isOut),
    changesets,
  };
}

/** Returns the version that changesets make of one. */
function raised(version, changesets) {
  const numbers = version.replace(/-.*/, '').split('.').map(Number);
  const at = Math.min(
    ...changesets.flatMap(({ bump }) => (bump === undefined ? [] : BUMPS.indexOf(bump))),
  );
  return numbers.map((n, nth) => (nth < at ? n : nth === at ? n + 1 : 0)).join('.');
}

/** Raises all published packages, and all mentions of them in the workspaces. */
async function raiseAll(root, version, next) {
  const { workspaces } = await readJson(join(root, 'package.json'));
  const names = PUBLISHED.map((folder) => manifestOf(folder, root).name);
  for (const workspace of workspaces) {
    const file = join(root, workspace, 'package.json');
    const manifest = await readJson(file);
    if (names.includes(manifest.name)) manifest.version = next;
    for (const field of ['dependencies', 'peerDependencies']) {
      for (const name of names) {
        if (manifest[field]?.[name] === version) manifest[field][name] = next;
      }
    }
    await writeFile(file, `${JSON.stringify(manifest, undefined, 2)}\n`);
  }
}

/**
 * Makes a version of all pending changes in a checkout. A version without a section in the changelog, such as the first
 * of all, is the next one unchanged; otherwise changesets raise it. Returns the version.
 */
export async function makeVersion(root, date = new Date().toISOString().slice(0, 10)) {
  const {
    isReleased: mustRaise,
    isPending,
    isMakeable,
    changesets,
    version,
  } = await standing(root);
  if (!isPending) throw new CommandFailed(`nothing has changed since ${version}`);
  if (!isMakeable) {
    throw new CommandFailed(
      `CHANGELOG.md has lines that are not released, and no changeset says how much they raise ${version}: ` +
        'run `npx changeset`',
    );
  }
  if (mustRaise) {
    await raiseAll(root, version, raised(version, changesets));
    // Its workspaces are in the lock file by their versions.
    const quick = [
      '--package-lock-only',
      '--ignore-scripts',
      '--offline',
      '--no-audit',
      '--no-fund',
    ];
    await run('npm', ['install', ...quick], { cwd: root, quiet: true });
  }
  await removeChangesets(root);
  const next = await versionIn(root);
  if (mustRaise && next === version) throw new CommandFailed(`changesets did not raise ${version}`);
  const entries = changesets.flatMap((one) => one.entries);
  const text = withVersion(await changelogIn(root), { version: next, date, entries });
  await writeFile(join(root, 'CHANGELOG.md'), text);
  return next;
}

/**
 * Copies the files that `makeVersion` reads and changes, and the package's files from the root, into another folder.
 */
export async function copyForVersion(to, from = ROOT) {
  await rm(to, { recursive: true, force: true });
  const { workspaces } = await readJson(join(from, 'package.json'));
  const files = ['package.json', 'package-lock.json', '.npmrc', '.changeset', ...COPIES];
  for (const file of [...files, ...workspaces.map((name) => join(name, 'package.json'))]) {
    await mkdir(dirname(join(to, file)), { recursive: true });
    await cp(join(from, file), join(to, file), { recursive: true });
  }
}
