// Manages the npm packages of this repository: which workspaces have the packages of a command, whether these are
// installed, and how to install them. Uses only built-ins of Node, since `setup.mjs` needs it before any package is
// installed.

import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { PUBLISHED } from './published.mjs';
import { CommandFailed, ROOT, run } from './run.mjs';

const read = (...path) => JSON.parse(readFileSync(join(ROOT, ...path), 'utf8'));

const BUILD = [...PUBLISHED.map((folder) => `js/${folder}`), 'tools/build'];

/**
 * The workspaces of each set. Packages are in the workspace of the command that needs them, so that others need not
 * wait.
 */
export const SETS = {
  /** The core for development, the JavaScript of the package, and the page. */
  demo: ['demo'],
  /** `npm run build`. */
  build: BUILD,
  /** `npm test`. */
  test: [...BUILD, 'tools/check', 'tools/units', 'demo', 'e2e'],
  bench: [...BUILD, 'e2e', 'e2e/bench'],
  docs: [...BUILD, 'site'],
  release: [...BUILD, 'tools/check', 'tools/release', 'e2e'],
  /** `npm run test:deep`, except a package that is only installed where Node lacks it. */
  all: read('package.json').workspaces.filter((one) => one !== 'tools/sqlite'),
};

/** Returns the workspaces of one set or of several, by their names. */
export function workspacesOf(sets) {
  const names = [sets].flat();
  const unknown = names.find((name) => !Object.hasOwn(SETS, name));
  if (unknown !== undefined) {
    throw new CommandFailed(
      `no set of packages is ${unknown}: there are ${Object.keys(SETS).join(', ')}`,
    );
  }
  return [...new Set(names.flatMap((name) => SETS[name]))];
}

/** Returns where the package at `from` finds `name`, by the lock file; `undefined` if it does not. */
function placeOf(packages, from, name) {
  for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf('/')))) {
    const place = `${at}${at === '' ? '' : '/'}node_modules/${name}`;
    if (!at.endsWith('node_modules') && packages[place] !== undefined) return place;
    if (at === '') return undefined;
  }
}

/** Returns the places of all packages that workspaces need on every machine, each with its entry in the lock file. */
export function placesOf(workspaces, packages = read('package-lock.json').packages) {
  const found = new Map(workspaces.map((workspace) => [workspace, packages[workspace]]));
  for (const [at, entry] of found) {
    const { dependencies, devDependencies, peerDependencies = {}, peerDependenciesMeta } = entry;
    const peers = Object.keys(peerDependencies).filter(
      (name) => !peerDependenciesMeta?.[name]?.optional,
    );
    for (const name of [...Object.keys({ ...dependencies, ...devDependencies }), ...peers]) {
      const place = placeOf(packages, at, name);
      if (place === undefined)
        throw new Error(`package-lock.json lacks ${name}, which ${at} needs`);
      found.set(place, packages[place]);
      const { link, resolved } = packages[place];
      if (link) found.set(resolved, packages[resolved]);
    }
  }
  return found;
}

/** Returns the version installed at a place; `undefined` without one. */
function versionAt(place) {
  try {
    return read(place, 'package.json').version;
  } catch {
    return undefined;
  }
}

/** npm writes this file last, so without it an installation has not ended. */
const END = join(ROOT, 'node_modules', '.package-lock.json');

/** Returns the places of packages that workspaces need and that are missing in the version of the lock file. */
export function missingPlaces(workspaces) {
  const places = [...placesOf(workspaces)].filter(([place]) => place.includes('node_modules/'));
  const isThere = ([place, { version, link }]) =>
    link ? versionAt(place) !== undefined : versionAt(place) === version;
  return places.filter((one) => !existsSync(END) || !isThere(one)).map(([place]) => place);
}

/**
 * Installs the packages of workspaces, and keeps installed ones. No package runs a script: the only one with a script
 * compiles SQLite. Peers are left out unless a workspace names them: the frameworks that the package supports are its
 * peers.
 */
export async function installPackages(workspaces) {
  const command = existsSync(END) ? ['install', '--no-save'] : ['ci'];
  rmSync(END, { force: true });
  const names = workspaces.flatMap((workspace) => ['-w', read(workspace, 'package.json').name]);
  const how = ['--ignore-scripts', '--legacy-peer-deps', '--no-audit', '--no-fund'];
  await run('npm', [...command, ...how, ...names], { quiet: true });
}
