// The steps of `npm run test:deep`: everything. `steps.mjs` describes a step.

import { join } from 'node:path';
import { findBrowser } from '../lib/browser.mjs';
import { ROOT } from '../lib/run.mjs';
import { counted, inParts, playwright, typed, vitest } from './commands.mjs';
import {
  countForeign,
  countHermes,
  countLibtest,
  countMatrix,
  countNodeTest,
  countWasm,
} from './counts.mjs';
import {
  BROWSER_TESTS,
  CORE,
  PACKAGE,
  PACKAGE_TESTS,
  SCRIPTS,
  TARBALL,
  VERSIONS,
} from './inputs.mjs';
import { DENY_WARNINGS, RUST, STATIC_STEPS, VITEST } from './steps.mjs';

const E2E = join(ROOT, 'e2e');
const FUZZ_DIR = ['--target-dir', join(ROOT, 'target', 'fuzz')];
const SERVER_TESTS = ['protocol', 'requests', 'failover', 'replicache', 'hedgerow', 'size'].map(
  (name) => `examples/server/test/${name}.test.mjs`,
);

/** Makes a step of `e2e/playwright.config.ts`: all tests of its projects. */
const browsers = ({ name, projects, program, env, ...step }) => ({
  name,
  lane: 'browser',
  isTiered: true,
  inputs: BROWSER_TESTS,
  tests: (file) => /^e2e\/tests\/.*\.spec\.ts$/.test(file),
  ...playwright({
    report: `playwright-${name}.json`,
    program: program ?? [
      'playwright',
      ['test', ...projects.map((project) => `--project=${project}`)],
    ],
    cwd: program === undefined ? E2E : ROOT,
    env,
  }),
  ...step,
});

/** Makes the browser tests of an example or of the site, with their own configuration. */
const pages = ({ name, config, commands = [], ...step }) => {
  const tests = playwright({
    report: `playwright-${name}.json`,
    program: ['playwright', ['test', '--config', config]],
  });
  return {
    name,
    lane: 'browser',
    needs: ['build', 'chromium'],
    ...tests,
    ...step,
    commands: [...commands, ...tests.commands],
  };
};

/** Only this tier has their packages. */
const TYPED = [
  'site',
  'e2e/bench',
  ...['react-native', 'offline', 'frameworks'].map((name) => `examples/${name}`),
];

const CORE_STEPS = [
  { ...RUST, seconds: 140 },
  {
    name: 'wasm',
    what: "the core's tests in WebAssembly, in Node and in Chromium",
    seconds: 200,
    lane: 'cargo',
    needs: ['wasm-tools', 'chromium'],
    inputs: [...CORE, 'scripts'],
    commands: [['node', ['scripts/long/wasm-tests.mjs']]],
    ...counted(countWasm),
  },
  {
    name: 'benches',
    what: 'the lints of the benches of the core, and the core against SQLite',
    seconds: 120,
    lane: 'cargo',
    needs: ['toolchain'],
    inputs: CORE,
    commands: [
      [
        'cargo',
        ['clippy', '--locked', '-p', 'hedgerow-benches', '--all-targets', ...DENY_WARNINGS],
      ],
      ['cargo', ['bench', '--locked', '-p', 'hedgerow-benches', '--bench', 'sqlite']],
    ],
  },
  {
    name: 'doc',
    what: 'the documentation of the crates',
    seconds: 10,
    lane: 'cargo',
    needs: ['toolchain'],
    inputs: CORE,
    commands: [['cargo', ['doc', '--locked', '--no-deps'], { RUSTDOCFLAGS: '-D warnings' }]],
  },
  {
    name: 'fuzz',
    what: 'all fuzz targets, five seconds each',
    seconds: 110,
    lane: 'cargo',
    needs: ['toolchain'],
    inputs: [...CORE, 'crate/fuzz', 'scripts/long/fuzz.mjs'],
    commands: [
      ['cargo', ['test', '--locked', '--manifest-path', 'crate/fuzz/Cargo.toml', ...FUZZ_DIR]],
      ['node', ['scripts/long/fuzz.mjs', '--seconds', '5']],
    ],
    ...counted(countLibtest),
  },
];

const WRAPPER_STEPS = [
  ...inParts(4, {
    ...VITEST,
    seconds: 900,
    needs: [...VITEST.needs, 'gateway'],
  }),
  {
    name: 'server',
    what: 'the example of a back end, over SQLite and Postgres, against Replicache',
    seconds: 45,
    needs: ['build', 'sqlite', 'postgres'],
    inputs: [...PACKAGE, 'examples/server', ...SCRIPTS, ...PACKAGE_TESTS],
    commands: [
      ['node', ['--test', '--test-concurrency=1', '--test-reporter', 'spec', ...SERVER_TESTS]],
    ],
    ...counted(countNodeTest),
  },
  {
    name: 'foreign',
    what: 'the suites that packages have for their adapters; others need GitHub',
    seconds: 18,
    needs: ['build'],
    inputs: [...PACKAGE, ...SCRIPTS, 'js/tanstack-db/test/foreign'],
    commands: [
      ['node', ['scripts/long/foreign.mjs', '--as-built', '--only', 'abstract-level,keyv']],
    ],
    ...counted(countForeign),
  },
  {
    name: 'fuzzjs',
    what: 'the fuzz targets of the objects of a remote, five seconds each',
    seconds: 28,
    needs: ['packages'],
    inputs: [...VERSIONS, 'js/hedgerow/src', ...PACKAGE_TESTS, 'vectors', ...SCRIPTS],
    commands: [['node', ['scripts/long/fuzz-remote.mjs', '--seconds', '5']]],
  },
];

const BROWSER_STEPS = [
  ...inParts(
    2,
    browsers({
      name: 'e2e',
      what: 'the tests in Chromium, but for those of `timed`',
      seconds: 510,
      needs: ['build', 'chromium', 'gateway'],
      projects: ['untimed'],
    }),
  ),
  ...inParts(
    2,
    browsers({
      name: 'sqlite',
      what: 'the same in Chromium with IndexedDB in SQLite, kills and quotas included',
      seconds: 450,
      needs: ['build', 'chromium', 'gateway', 'sqlite'],
      projects: ['chromium-sqlite'],
    }),
  ),
  ...inParts(
    3,
    browsers({
      name: 'engines',
      what: "the browser tests that do not need Chromium's own protocol, in Firefox and WebKitGTK",
      seconds: 600,
      needs: ['build', 'browsers', 'gateway'],
      program: ['node', ['e2e/engines.mjs']],
    }),
  ),
  {
    name: 'units',
    what: "a sample of the wrapper's tests on the IndexedDB of each engine",
    seconds: 55,
    lane: 'browser',
    needs: ['build', 'browsers'],
    inputs: [...PACKAGE, 'e2e', ...PACKAGE_TESTS, 'vectors'],
    ...vitest({
      report: 'units.json',
      program: ['node', ['js/hedgerow/test/browser/run.mjs', '--sample']],
      reporters: [],
      env: () => ({ CHROMIUM_PATH: findBrowser() }),
    }),
  },
  {
    name: 'demo',
    what: 'the demo, in Chromium',
    seconds: 40,
    lane: 'browser',
    needs: ['build', 'chromium'],
    inputs: [...PACKAGE, 'demo', ...SCRIPTS],
    commands: [['node', ['scripts/demo.mjs', '--headless', '--as-built']]],
  },
  pages({
    name: 'offline',
    what: 'the example of an app whose server decides, in Chromium',
    seconds: 15,
    config: 'examples/offline/test/playwright.config.mjs',
    needs: ['build', 'chromium', 'sqlite'],
    inputs: [...PACKAGE, 'examples/offline', 'e2e'],
  }),
  pages({
    name: 'frameworks',
    what: 'the example in React, Vue, Svelte, Solid and Angular, in Chromium',
    seconds: 35,
    config: 'examples/frameworks/test/playwright.config.mjs',
    inputs: [...PACKAGE, 'examples', 'e2e', 'demo'],
  }),
  pages({
    name: 'site',
    what: 'the documentation site: it builds, its links lead somewhere, and axe finds no fault',
    seconds: 150,
    config: 'site/test/playwright.config.mjs',
    inputs: [...TARBALL, 'docs', 'site', 'e2e', 'demo', 'examples', ...PACKAGE_TESTS],
    commands: [['node', ['scripts/docs.mjs', '--build', '--as-built']]],
  }),
];

/** Alone, and so the last. */
const TIMED = browsers({
  name: 'timed',
  what: 'the tests in real browsers that measure time',
  seconds: 110,
  lane: undefined,
  alone: true,
  needs: ['build', 'chromium'],
  projects: ['timed'],
});

const PACKAGE_STEPS = [
  {
    name: 'tsc-more',
    what: 'the types of the site, the benchmarks and the examples; those of apps by the oldest TypeScript',
    seconds: 25,
    needs: ['build'],
    inputs: [...PACKAGE, ...TYPED, 'e2e', 'demo', 'examples', 'scripts', 'js/hedgerow/test/types'],
    commands: [
      ...typed(TYPED),
      ['node', ['node_modules/typescript-5.4/bin/tsc', '-p', 'js/hedgerow/test/types']],
      ['node', ['scripts/check-types.mjs']],
    ],
  },
  {
    name: 'hermes',
    what: 'the package for React Native, in a real Hermes',
    seconds: 100,
    lane: 'package',
    needs: ['build'],
    inputs: [...PACKAGE, ...SCRIPTS, 'vectors'],
    commands: [['node', ['scripts/long/hermes.mjs']]],
    ...counted(countHermes),
  },
  {
    name: 'example',
    what: 'the example app, bundled as a release',
    seconds: 15,
    lane: 'package',
    needs: ['build'],
    inputs: [...PACKAGE, ...SCRIPTS, 'examples/react-native'],
    commands: [['node', ['scripts/long/example.mjs']]],
  },
  {
    name: 'matrix',
    what: 'the packed package in the tools that the root has; others: npm run matrix',
    seconds: 25,
    lane: 'browser',
    // The others write to the folders that it packs.
    needs: ['build', 'chromium', 'sqlite', 'hermes', 'example'],
    inputs: [...TARBALL, 'examples/matrix', ...PACKAGE_TESTS],
    commands: [['node', ['scripts/long/matrix.mjs', '--sample', '--as-built']]],
    ...counted(countMatrix),
  },
  {
    name: 'release',
    what: 'a dry run of a release: its version, the tarball and what is in it, an app that installs it',
    seconds: 30,
    lane: 'package',
    // It makes the package for React Native if that is missing.
    needs: ['build', 'hermes', 'example', 'matrix'],
    inputs: ['.'],
    commands: [['node', ['scripts/release.mjs', '--dry-run', '--as-built']]],
  },
];

/**
 * The steps of `npm run test:deep`. The browser steps, which follow each other, are the longest chain and begin first.
 */
export const DEEP_STEPS = [
  ...STATIC_STEPS,
  ...BROWSER_STEPS,
  ...PACKAGE_STEPS,
  ...CORE_STEPS,
  ...WRAPPER_STEPS,
  TIMED,
];
