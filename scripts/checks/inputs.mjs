// The shared inputs of steps: files and folders of the repository. A step that passed does not run again until one of
// its inputs changes, so a missing input hides a fault: `scripts/check-inputs.mjs` finds those.

import { PUBLISHED } from '../lib/published.mjs';
import { WASM_INPUTS } from '../lib/wasm.mjs';

/** The versions of the packages of npm. */
export const VERSIONS = ['package.json', 'package-lock.json', 'tools'];

/** The core, for Cargo. */
export const CORE = [
  'Cargo.toml',
  'Cargo.lock',
  'rust-toolchain.toml',
  '.cargo',
  'crate',
  '!crate/fuzz',
  'vectors',
];

/** The files of all packages with one of these names. */
const inPackages = (...names) =>
  PUBLISHED.flatMap((folder) => names.map((name) => `js/${folder}/${name}`));

/** The tests of all packages. */
export const PACKAGE_TESTS = inPackages('test');

/** The packages, as `npm run build` makes them. */
export const PACKAGE = [
  ...WASM_INPUTS,
  ...VERSIONS,
  'tsconfig.base.json',
  'scripts/build.mjs',
  'scripts/lib',
  'js/sources.json',
  ...inPackages('package.json', 'tsconfig.json', 'src'),
];

/** The scripts that steps run, without the runner of the steps. */
export const SCRIPTS = ['scripts', '!scripts/checks', '!scripts/test'];

/** The packages as they are packed: with pages and licences. */
export const TARBALL = [
  ...PACKAGE,
  ...SCRIPTS,
  'CHANGELOG.md',
  'LICENSE-APACHE',
  'LICENSE-MIT',
  'README.md',
  'docs/errors',
  ...inPackages('README.md'),
];

/** The wrapper's tests, besides the imports of each file. */
export const WRAPPER_TESTS = [
  ...WASM_INPUTS,
  ...inPackages('package.json'),
  'js/sources.json',
  'js/sources.ts',
  'js/vitest.config.ts',
  'js/hedgerow/test/support/stuck-reporter.ts',
  'tsconfig.base.json',
];

/** The pages and tests that run in browsers, with the helpers of the wrapper's tests. */
export const BROWSER_TESTS = [
  ...PACKAGE,
  'e2e',
  ...PACKAGE_TESTS,
  ...PACKAGE_TESTS.map((folder) => `!${folder}/*.test.ts`),
  'vectors',
];
