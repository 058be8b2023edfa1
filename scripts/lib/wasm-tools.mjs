// Finds the tools that run the core's own tests in WebAssembly, and installs missing ones. Uses only built-ins of Node,
// since `setup.mjs` needs it before `npm ci` has run.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { installPackages } from './browser.mjs';
import { ask, CommandFailed, ROOT, run } from './run.mjs';

const TOOLS_DIR = join(ROOT, '.cache', 'wasm-tools');
/** The folder of the programs that Cargo has installed. */
export const TOOLS_BIN = join(TOOLS_DIR, 'bin');

/** Returns the core's version of wasm-bindgen: its runner of tests must have the same. */
function bindgenVersion() {
  const manifest = readFileSync(join(ROOT, 'crate', 'Cargo.toml'), 'utf8');
  const [, version] = /^wasm-bindgen = .*"=([\d.]+)"/m.exec(manifest) ?? [];
  if (version === undefined) throw new Error('crate/Cargo.toml names no version of wasm-bindgen');
  return version;
}

/** Makes a tool for `setup.mjs`, from a package of crates.io. It never uses one of the machine. */
function cargoTool({ crate, program = crate, version, features = [] }) {
  const what = ['install', crate, '--version', version, ...features];
  const where = ['--root', TOOLS_DIR];
  return {
    name: crate,
    find: () =>
      ask(join(TOOLS_BIN, program), ['--version'])?.split(' ')[1] === version ? version : undefined,
    install: async () => {
      try {
        await run('cargo', [...what, '--locked', ...where], { quiet: true });
      } catch {
        // A registry that lags behind lacks versions that the lock file names.
        await run('cargo', [...what, ...where], { quiet: true });
      }
    },
    advice: `run \`cargo ${[...what, ...where].join(' ')}\` where crates.io can be reached`,
  };
}

/** Returns the path of chromedriver, or `undefined`. `CHROMEDRIVER` has priority. */
export function findChromedriver() {
  const chosen = process.env.CHROMEDRIVER;
  if (chosen && !existsSync(chosen))
    throw new CommandFailed(`CHROMEDRIVER is ${chosen}, and there is no such file`);
  return chosen || ask('which', ['chromedriver']);
}

/** The tools for `setup.mjs` that Cargo compiles. */
export const WASM_TOOLS = [
  cargoTool({ crate: 'wasm-pack', version: '0.15.1' }),
  cargoTool({
    crate: 'wasm-bindgen-cli',
    program: 'wasm-bindgen',
    version: bindgenVersion(),
    // It speaks to a driver on this machine, without TLS.
    features: ['--no-default-features'],
  }),
];

/** Drives Chromium for wasm-pack. */
export const CHROMEDRIVER = {
  name: 'chromedriver',
  find: () => {
    const path = findChromedriver();
    return path && ask(path, ['--version']);
  },
  install: () => installPackages(['chromium-driver']),
  advice:
    'install that of the version of Chromium (Debian: chromium-driver), and set CHROMEDRIVER if it is in an unusual place',
  isOptional: true,
};
