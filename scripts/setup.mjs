// `npm run setup [-- --browser --gateway --postgres]`: installs in parallel what a fresh clone lacks. Prints a line for each
// tool, and takes about a second when nothing is missing.

import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { findBrowser, installBrowser, mayInstallPackages } from './lib/browser.mjs';
import { OTHER_ENGINES } from './lib/engines.mjs';
import { GATEWAY } from './lib/gateway.mjs';
import { POSTGRES } from './lib/postgres.mjs';
import { ask, CommandFailed, ROOT, run, runMain } from './lib/run.mjs';

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

const PACKAGES = {
  name: 'packages',
  find: () => {
    const modified = (...path) => statSync(join(ROOT, ...path)).mtimeMs;
    try {
      const installed = modified('node_modules', '.package-lock.json');
      return installed >= modified('package-lock.json') ? 'node_modules' : undefined;
    } catch {
      return undefined;
    }
  },
  install: () => run('npm', ['ci', '--no-audit', '--no-fund'], { quiet: true }),
  advice: 'run `npm ci` where the npm registry can be reached',
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
    // Ask for the toolchain by name: running `cargo` here could start a download.
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
      await install();
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

/** Provides the npm packages and what else is named: the browsers, the S3 server, and Postgres for tests. */
export async function setupPackages({ browser = false, gateway = false, postgres = false } = {}) {
  await provide(NODE);
  const packages = provide(PACKAGES);
  const others = OTHER_ENGINES.map((engine) => ({ ...engine, isOptional: true }));
  const browsers = async () => {
    // If the system has no browser packages, an npm package installs them.
    if (!mayInstallPackages()) await packages;
    await provideAll([BROWSER, ...others]);
  };
  const systemPackages = async () => {
    if (browser) await browsers();
    if (postgres) await provide(POSTGRES); // After the browsers: apt runs once at a time.
  };
  const server = gateway ? provide(GATEWAY) : undefined;
  await allOf([packages, systemPackages(), server]);
}

/** Provides all tools. */
export const setup = (options) => allOf([setupPackages(options), setupRust()]);

/** Waits for all jobs, then throws the first failure, so that no installation is interrupted. */
async function allOf(jobs) {
  const outcomes = await Promise.allSettled(jobs);
  const failed = outcomes.find(({ status }) => status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const has = (flag) => process.argv.includes(flag);
  await runMain(() =>
    setup({
      browser: has('--browser'),
      gateway: has('--gateway'),
      postgres: has('--postgres'),
    }),
  );
}
