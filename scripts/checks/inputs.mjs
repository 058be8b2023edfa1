// The shared inputs of steps: files and folders of the repository. A step that passed does not run again until one of
// its inputs changes, so a missing input hides a fault: `scripts/check-inputs.mjs` finds those.

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

/** The package, as `npm run build` makes it. */
export const PACKAGE = [
  ...WASM_INPUTS,
  ...VERSIONS,
  'tsconfig.base.json',
  'scripts/build.mjs',
  'scripts/lib',
  'js/hedgerow/package.json',
  'js/hedgerow/tsconfig.json',
  'js/hedgerow/src',
];

/** The scripts that steps run, without the runner of the steps. */
export const SCRIPTS = ['scripts', '!scripts/checks', '!scripts/test'];

/** The package as it is packed: with its pages and licences. */
export const TARBALL = [
  ...PACKAGE,
  ...SCRIPTS,
  'CHANGELOG.md',
  'LICENSE-APACHE',
  'LICENSE-MIT',
  'README.md',
  'docs/errors',
  'js/hedgerow/README.md',
];

/** The wrapper's tests, besides the imports of each file. */
export const WRAPPER_TESTS = [
  ...WASM_INPUTS,
  'js/hedgerow/package.json',
  'js/vitest.config.ts',
  'js/hedgerow/test/support/stuck-reporter.ts',
  'tsconfig.base.json',
];

/** The pages and tests that run in browsers, with the helpers of the wrapper's tests. */
export const BROWSER_TESTS = [
  ...PACKAGE,
  'e2e',
  'js/hedgerow/test',
  '!js/hedgerow/test/*.test.ts',
  'vectors',
];
