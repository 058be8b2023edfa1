// `npm run setup [-- --packages all --browser chromium --gateway --postgres --sqlite]`: installs in parallel the tools
// that a fresh clone lacks. Prints a line for each tool, and takes about a second when no tool is missing. `--packages`
// is a set of `lib/packages.mjs`, by default the set of `npm test`; `--browser` is `chromium` or `all`.

import { readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { findBrowser, installBrowser, mayInstallPackages } from './lib/browser.mjs';
import { OTHER_ENGINES } from './lib/engines.mjs';
import { GATEWAY } from './lib/gateway.mjs';
import { installPackages, missingPlaces, placesOf, workspacesOf } from './lib/packages.mjs';
import { POSTGRES } from './lib/postgres.mjs';
import { ask, CommandFailed, ROOT, run, runMain } from './lib/run.mjs';
import { during } from './lib/waiting.mjs';
import { CHROMEDRIVER, WASM_TOOLS } from './lib/wasm-tools.mjs';

// For each tool: `find` returns its version (or `undefined`), `install` installs it, and `advice`
// says how to install it by hand if `install` fails.
const NODE = {
  name: 'node',
  find: () => {
    const [major, minor] = process.versions.node.split('.').map(Number);
    return major > 20 || (major === 20 && minor >= 19) ? process.versions.node : undefined;
  },
  advice: 'Node 20.19 or newer is needed: https://nodejs.org',
};

/** Returns the npm packages of one set or of several. */
const packagesOf = (sets) => {
  const workspaces = workspacesOf(sets);
  return {
    name: 'packages',
    find: () =>
      missingPlaces(workspaces).length === 0
        ? `${placesOf(workspaces).size}, for ${sets}`
        : undefined,
    install: () => installPackages(workspaces),
    advice: 'run `npm ci` where the npm registry can be reached',
  };
};

/** A SQLite for Node: its own, or a package that is compiled. */
const SQLITE = {
  name: 'sqlite',
  find: () => {
    if (isBuiltin('node:sqlite')) return `node:sqlite of ${process.versions.node}`;
    const program = `new (require('better-sqlite3'))(':memory:').close(), process.stdout.write('better-sqlite3')`;
    return ask('node', ['-e', program]);
  },
  install: async () => {
    await installPackages(['tools/sqlite']);
    await run('npm', ['rebuild', 'better-sqlite3'], { quiet: true });
  },
  advice: 'use Node 22.13 or newer, or install what compiles C (Debian: build-essential, python3)',
};

const RUSTUP = {
  name: 'rustup',
  find: () => ask('rustup', ['--version'])?.split(' ')[1],
  advice: 'install rustup, which brings Rust and Cargo: https://rustup.rs',
};

const toolchain = readToolchainFile();
const RUST = {
  name: 'rust',
  find: () => {
    const { channel, targets, components } = toolchain;
    // Asks for the toolchain by name: running `cargo` here could start a download.
    const listed = (kind) => ask('rustup', [kind, 'list', '--installed', '--toolchain', channel]);
    const hasTargets = hasAll(listed('target'), targets);
    const hasComponents = hasAll(listed('component'), components);
    return hasTargets && hasComponents
      ? [channel, ...targets, ...components].join(', ')
      : undefined;
  },
  install: () => {
    const { channel, targets, components } = toolchain;
    const extras = ['--target', targets.join(','), '--component', components.join(',')];
    const args = ['toolchain', 'install', channel, '--profile', 'minimal', ...extras];
    return run('rustup', [...args, '--no-self-update'], { quiet: true });
  },
  advice:
    `run \`rustup toolchain install ${toolchain.channel} ` +
    `--target ${toolchain.targets} --component ${toolchain.components}\``,
};

const BROWSERS = ['none', 'chromium', 'all'];
const BROWSER = {
  name: 'browser',
  find: findBrowser,
  install: installBrowser,
  advice: 'install Chromium or Chrome, and set CHROMIUM_PATH if it is in an unusual place',
};

function readToolchainFile() {
  const text = readFileSync(join(ROOT, 'rust-toolchain.toml'), 'utf8');
  const list = (name) =>
    JSON.parse(new RegExp(`^${name} = (\\[.*\\])$`, 'm').exec(text)?.[1] ?? '[]');
  const channel = /^channel = "(.+)"$/m.exec(text)?.[1];
  if (channel === undefined) throw new Error('rust-toolchain.toml names no channel');
  return { channel, targets: list('targets'), components: list('components') };
}

/** Whether `text` has a line for each name, with or without a platform's suffix. */
function hasAll(text, names) {
  const lines = text?.split('\n') ?? [];
  return names.every((name) => lines.some((line) => line === name || line.startsWith(`${name}-`)));
}

async function provide({ name, find, install, advice, isOptional = false }) {
  const say = (text) => console.log(`${name.padEnd(11)} ${text}`);
  const found = find();
  if (found !== undefined) return say(found);
  if (install !== undefined) {
    say('missing, installing it');
    try {
      await during(`installing ${name}`, install);
    } catch (error) {
      say(`could not be installed (${error.message})\n${(error.output ?? '').slice(-4000)}`);
    }
    const installed = find();
    if (installed !== undefined) return say(`installed: ${installed}`);
  }
  const missing = `${name} is missing: ${advice}`;
  if (!isOptional) throw new CommandFailed(missing);
  console.log(`\n*** ${missing}\n*** What is tested in it is left out.\n`);
}

/** Provides tools one after the other: each may need the ones before it. */
async function provideAll(things) {
  for (const thing of things) await provide(thing);
}

/** Provides the tools that compile Rust. */
export const setupRust = () => provideAll([RUSTUP, RUST]);

/** Provides the tools that compile Rust, and the tools that run its tests in WebAssembly. */
export const setupWasm = () => provideAll([RUSTUP, RUST, ...WASM_TOOLS, CHROMEDRIVER]);

/** Provides a SQLite for Node. The npm packages must not be installed at the same time. */
export const setupSqlite = () => provide(SQLITE);

/** Provides Chromium (`chromium`), all engines (`all`) or no browser (`none`). */
export async function setupBrowsers(which) {
  if (!BROWSERS.includes(which)) {
    throw new CommandFailed(`--browser is one of ${BROWSERS.join(', ')}`);
  }
  if (which === 'none') return;
  const others = OTHER_ENGINES.map((engine) => ({ ...engine, isOptional: true }));
  await provideAll(which === 'all' ? [BROWSER, ...others] : [BROWSER]);
}

/** Provides the S3 server of tests. */
export const setupGateway = () => provide(GATEWAY);

/** Provides Postgres for tests. Debian's packages must not be installed at the same time. */
export const setupPostgres = () => provide(POSTGRES);

/**
 * Provides the npm packages of `packages`, one set of `lib/packages.mjs` or several, and the other named tools:
 * `browser` as `setupBrowsers` takes it, the S3 server, Postgres for tests, and a SQLite for Node.
 */
export async function setupPackages({
  packages: sets = 'test',
  browser = 'none',
  gateway = false,
  postgres = false,
  sqlite = false,
} = {}) {
  await provide(NODE);
  const packages = provide(packagesOf(sets));
  const afterPackages = async () => {
    await packages;
    if (sqlite) await setupSqlite();
  };
  const systemPackages = async () => {
    // If the system has no browser packages, an npm package installs them.
    if (!mayInstallPackages()) await packages;
    await setupBrowsers(browser);
    if (postgres) await setupPostgres();
  };
  await allOf([afterPackages(), systemPackages(), gateway ? setupGateway() : undefined]);
}

/** Provides all tools. */
export const setup = ({ wasm = false, ...options } = {}) =>
  allOf([setupPackages(options), wasm ? setupWasm() : setupRust()]);

/** Waits for all jobs, then throws the first failure, so that no installation is interrupted. */
export async function allOf(jobs) {
  const outcomes = await Promise.allSettled(jobs);
  const failed = outcomes.find(({ status }) => status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

function readArguments() {
  const options = {
    packages: { type: 'string' },
    browser: { type: 'string' },
    gateway: { type: 'boolean' },
    postgres: { type: 'boolean' },
    sqlite: { type: 'boolean' },
    wasm: { type: 'boolean' },
  };
  try {
    return { ...parseArgs({ options }).values };
  } catch (error) {
    throw new CommandFailed(error.message);
  }
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  await runMain(() => setup(readArguments()));
}
