// The checks of `npm test` in their order: cheap ones first. A step has the commands to run and, if
// these are tests, a function that counts them. `everywhere` are its commands with `--engines all`.
// `needs` names the steps that must run before, `lane` and `alone` restrict the steps that it may
// overlap (see `schedule.mjs`), and `needsBrowser`, `needsGateway` and `needsPostgres` mark steps that drive a browser, an S3
// server or Postgres.

import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { findBrowser } from './browser.mjs';
import { ROOT } from './run.mjs';
import {
  countForeign,
  countHermes,
  countLibtest,
  countMatrix,
  countNodeTest,
  countPlaywright,
  countVitest,
} from './test-counts.mjs';

const REPORT_DIR = join(ROOT, '.cache', 'test');

/** Reads a runner's report and deletes it, so that it is never counted twice. */
function takeReport(name) {
  const file = join(REPORT_DIR, name);
  const report = JSON.parse(readFileSync(file, 'utf8'));
  rmSync(file);
  return report;
}

const VITEST_REPORT = join(REPORT_DIR, 'vitest.json');
const UNITS_REPORT = join(REPORT_DIR, 'units.json');
const vitestReports = (file) => [
  '--reporter=default',
  '--reporter=json',
  `--outputFile.json=${file}`,
];
// List the files: newer versions of Node do not accept a folder, older ones no pattern.
const SCRIPT_TESTS = readdirSync(join(ROOT, 'scripts', 'test')).map(
  (file) => `scripts/test/${file}`,
);
const SERVER_TESTS = ['protocol', 'requests', 'replicache', 'hedgerow', 'size'].map(
  (name) => `examples/server/test/${name}.test.mjs`,
);
const WASM = ['--target', 'wasm32-unknown-unknown', '--lib'];
const FUZZ_DIR = ['--target-dir', join(ROOT, 'target', 'fuzz')];
const DENY_WARNINGS = ['--', '-D', 'warnings'];

/** A project of `e2e/playwright.config.ts`. */
function playwright(project) {
  const report = `playwright-${project}.json`;
  const env = () => ({ CHROMIUM_PATH: findBrowser(), E2E_REPORT: report });
  return {
    needsBrowser: true,
    cwd: join(ROOT, 'e2e'),
    commands: [['playwright', ['test', `--project=${project}`, '--no-deps'], env]],
    count: () => countPlaywright(takeReport(report)),
  };
}

/** The browser tests in Firefox and WebKitGTK: their core, or all of them. */
function enginesCommand(which) {
  const env = () => ({
    CHROMIUM_PATH: findBrowser(),
    E2E_REPORT: 'playwright-engines.json',
    E2E_ENGINES: which,
  });
  return ['node', ['e2e/engines.mjs'], env];
}

/** The wrapper's tests in each engine. */
function unitsCommand(...args) {
  const env = () => ({ CHROMIUM_PATH: findBrowser() });
  return ['node', ['js/test/browser/run.mjs', ...args, ...vitestReports(UNITS_REPORT)], env];
}

/**
 * The steps. Those of one lane never overlap: Cargo's wait for each other anyway, and browsers are heavy. Timed
 * steps run alone. `seconds` is about what a step takes by itself on two cores.
 */
export const STEPS = [
  {
    name: 'fmt',
    what: 'the format of Rust',
    seconds: 1,
    lane: 'cargo',
    needs: ['setup'],
    commands: [['cargo', ['fmt', '--check']]],
  },
  {
    name: 'biome',
    what: 'formats and lints of everything else',
    seconds: 2,
    needs: ['packages'],
    commands: [['biome', ['check', '--error-on-warnings']]],
  },
  {
    name: 'layers',
    what: 'imports point down, and the drawing of the rooms is right',
    seconds: 1,
    needs: ['packages'],
    commands: [
      ['node', ['scripts/check-layers.mjs']],
      ['node', ['scripts/draw-rooms.mjs', '--check']],
    ],
  },
  {
    name: 'scripts',
    what: 'the tests of the scripts',
    seconds: 4,
    needs: ['packages'],
    commands: [['node', ['--test', '--test-reporter', 'spec', ...SCRIPT_TESTS]]],
    count: countNodeTest,
  },
  {
    name: 'build',
    what: 'the package, as it is published',
    seconds: 30,
    lane: 'package',
    needs: ['setup', 'packages'],
    commands: [['node', ['scripts/build.mjs']]],
  },
  {
    name: 'server',
    what: 'the example of a back end, over SQLite and Postgres, against Replicache',
    seconds: 45,
    needs: ['build'],
    needsPostgres: true,
    commands: [
      ['node', ['--test', '--test-concurrency=1', '--test-reporter', 'spec', ...SERVER_TESTS]],
    ],
    count: countNodeTest,
  },
  {
    name: 'clippy',
    what: 'the lints of Rust',
    seconds: 20,
    lane: 'cargo',
    needs: ['setup'],
    commands: [
      ['cargo', ['clippy', '--locked', '--all-targets', ...DENY_WARNINGS]],
      ['cargo', ['clippy', '--locked', ...WASM, ...DENY_WARNINGS]],
    ],
  },
  {
    name: 'tsc',
    what: 'the types of TypeScript',
    seconds: 5,
    needs: ['build'],
    commands: [
      'js',
      'js/tsconfig.test.json',
      'demo',
      'e2e',
      'examples/react-native',
      'examples/offline',
      'examples/frameworks',
      'site',
    ].map((project) => ['tsc', ['--noEmit', '-p', project]]),
  },
  {
    name: 'types',
    what: 'the types that apps infer, and what must not compile, by the oldest TypeScript and the newest',
    seconds: 8,
    needs: ['build'],
    commands: [
      ['tsc', ['-p', 'js/test/types']],
      ['node', ['node_modules/typescript-5.4/bin/tsc', '-p', 'js/test/types']],
      ['node', ['scripts/check-types.mjs']],
    ],
  },
  {
    name: 'snippets',
    what: 'the TypeScript in the pages compiles, and their numbers of browser tests are right',
    seconds: 10,
    needs: ['build'],
    commands: [
      ['node', ['scripts/check-snippets.mjs']],
      ['node', ['scripts/check-browser-tests.mjs']],
    ],
  },
  {
    name: 'size',
    what: 'the budget of bytes',
    seconds: 2,
    needs: ['build'],
    commands: [['node', ['scripts/check-size.mjs']]],
  },
  {
    name: 'rust',
    what: 'the tests of the core',
    seconds: 140,
    lane: 'cargo',
    needs: ['setup'],
    commands: [['cargo', ['test', '--locked', '--no-fail-fast']]],
    count: countLibtest,
  },
  {
    name: 'vitest',
    what: 'the tests of the wrapper, in Node',
    seconds: 900,
    cwd: join(ROOT, 'js'),
    needs: ['build'],
    needsGateway: true,
    commands: [['vitest', ['run', ...vitestReports(VITEST_REPORT)]]],
    count: () => countVitest(takeReport('vitest.json')),
  },
  {
    name: 'foreign',
    what: 'the suites that packages have for their adapters; others need GitHub',
    seconds: 18,
    needs: ['build'],
    commands: [['node', ['scripts/foreign.mjs', '--as-built', '--only', 'abstract-level,keyv']]],
    count: countForeign,
  },
  {
    name: 'fuzz',
    what: 'all fuzz targets, five seconds each',
    seconds: 110,
    lane: 'cargo',
    needs: ['setup'],
    commands: [
      ['cargo', ['test', '--locked', '--manifest-path', 'crate/fuzz/Cargo.toml', ...FUZZ_DIR]],
      ['node', ['scripts/fuzz.mjs', '--seconds', '5']],
    ],
    count: countLibtest,
  },
  {
    name: 'fuzzjs',
    what: 'the fuzz targets of the objects of a remote, five seconds each',
    seconds: 28,
    needs: ['packages'],
    commands: [['node', ['scripts/fuzz-remote.mjs', '--seconds', '5']]],
  },
  {
    name: 'e2e',
    what: 'the tests in real browsers, but for those of `timed`',
    seconds: 510,
    lane: 'browser',
    needs: ['build'],
    needsGateway: true,
    ...playwright('untimed'),
  },
  {
    name: 'doc',
    what: 'the documentation of the crates',
    seconds: 10,
    lane: 'cargo',
    needs: ['setup'],
    commands: [['cargo', ['doc', '--locked', '--no-deps'], { RUSTDOCFLAGS: '-D warnings' }]],
  },
  {
    name: 'hermes',
    what: 'the package for React Native, in a real Hermes',
    seconds: 100,
    lane: 'package',
    needs: ['build'],
    commands: [['node', ['scripts/hermes.mjs']]],
    count: countHermes,
  },
  {
    name: 'example',
    what: 'the example app, bundled as a release',
    seconds: 15,
    lane: 'package',
    needs: ['build'],
    commands: [['node', ['scripts/example.mjs']]],
  },
  {
    name: 'demo',
    what: 'the demo, in Chromium',
    seconds: 40,
    lane: 'browser',
    needsBrowser: true,
    needs: ['build'],
    commands: [['node', ['scripts/demo.mjs', '--headless', '--as-built']]],
  },
  {
    name: 'offline',
    what: 'the example of an app whose server decides, in Chromium',
    seconds: 15,
    lane: 'browser',
    needsBrowser: true,
    needs: ['build'],
    commands: [
      [
        'playwright',
        ['test', '--config', 'examples/offline/test/playwright.config.mjs'],
        () => ({ CHROMIUM_PATH: findBrowser() }),
      ],
    ],
    count: () => countPlaywright(takeReport('playwright-offline.json')),
  },
  {
    name: 'frameworks',
    what: 'the example in React, Vue, Svelte, Solid and Angular, in Chromium',
    seconds: 35,
    lane: 'browser',
    needsBrowser: true,
    needs: ['build'],
    commands: [
      [
        'playwright',
        ['test', '--config', 'examples/frameworks/test/playwright.config.mjs'],
        () => ({ CHROMIUM_PATH: findBrowser() }),
      ],
    ],
    count: () => countPlaywright(takeReport('playwright-frameworks.json')),
  },
  {
    name: 'site',
    what: 'the documentation site: it builds, its links lead somewhere, and axe finds no fault',
    seconds: 150,
    lane: 'browser',
    needsBrowser: true,
    needs: ['build'],
    commands: [
      ['node', ['scripts/docs.mjs', '--build', '--as-built']],
      [
        'playwright',
        ['test', '--config', 'site/test/playwright.config.mjs'],
        () => ({ CHROMIUM_PATH: findBrowser() }),
      ],
    ],
    count: () => countPlaywright(takeReport('playwright-site.json')),
  },
  {
    name: 'matrix',
    what: 'the packed package in the tools that the root has; others: npm run matrix',
    seconds: 25,
    lane: 'browser',
    needsBrowser: true,
    // The others write to what it packs.
    needs: ['build', 'hermes', 'example'],
    commands: [['node', ['scripts/matrix.mjs', '--sample', '--as-built']]],
    count: countMatrix,
  },
  {
    name: 'release',
    what: 'a dry run of a release: its version, the tarball and what is in it, an app that installs it',
    seconds: 30,
    lane: 'package',
    // It makes the package for React Native if that is not there.
    needs: ['build', 'hermes', 'example', 'matrix'],
    commands: [['node', ['scripts/release.mjs', '--dry-run', '--as-built']]],
  },
  {
    name: 'engines',
    what: 'the core of the browser tests in Firefox and WebKitGTK',
    seconds: 500,
    lane: 'browser',
    needs: ['build'],
    needsBrowser: true,
    commands: [enginesCommand('core')],
    everywhere: [enginesCommand('all')],
    count: () => countPlaywright(takeReport('playwright-engines.json')),
  },
  {
    name: 'units',
    what: "a sample of the wrapper's tests on the IndexedDB of each engine",
    seconds: 55,
    lane: 'browser',
    needs: ['build'],
    needsBrowser: true,
    commands: [unitsCommand('--sample')],
    everywhere: [unitsCommand()],
    count: () => countVitest(takeReport('units.json')),
  },
  {
    name: 'timed',
    what: 'the tests in real browsers that measure time',
    seconds: 110,
    alone: true,
    needs: ['build'],
    ...playwright('timed'),
  },
];

/** Removes reports of an earlier run, so that only those of this run are counted. */
export function clearReports() {
  rmSync(REPORT_DIR, { recursive: true, force: true });
  mkdirSync(REPORT_DIR, { recursive: true });
}
