// The checks that `npm test` makes, in order: the cheap ones first. A step has the
// commands to run and, when these are tests, a way to count them. `needsBuild` marks
// what reads the built package, `needsBrowser` what drives a browser.

import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { findBrowser } from './browser.mjs';
import { ROOT } from './run.mjs';
import {
  countHermes,
  countLibtest,
  countNodeTest,
  countPlaywright,
  countVitest,
} from './test-counts.mjs';

const REPORT_DIR = join(ROOT, '.cache', 'test');

/** Reads a runner's report, and takes it away so that it is never counted twice. */
function takeReport(name) {
  const file = join(REPORT_DIR, name);
  const report = JSON.parse(readFileSync(file, 'utf8'));
  rmSync(file);
  return report;
}

const VITEST_REPORT = join(REPORT_DIR, 'vitest.json');
// Named one by one: a folder is not taken by newer versions of Node, a pattern not by older.
const SCRIPT_TESTS = readdirSync(join(ROOT, 'scripts', 'test')).map(
  (file) => `scripts/test/${file}`,
);
const WASM = ['--target', 'wasm32-unknown-unknown', '--lib'];
const FUZZ_DIR = ['--target-dir', join(ROOT, 'target', 'fuzz')];
const DENY_WARNINGS = ['--', '-D', 'warnings'];

export const STEPS = [
  { name: 'fmt', commands: [['cargo', ['fmt', '--check']]] },
  {
    name: 'clippy',
    commands: [
      ['cargo', ['clippy', '--locked', '--all-targets', ...DENY_WARNINGS]],
      ['cargo', ['clippy', '--locked', ...WASM, ...DENY_WARNINGS]],
    ],
  },
  { name: 'biome', commands: [['biome', ['check', '--error-on-warnings']]] },
  {
    name: 'tsc',
    needsBuild: true,
    commands: ['js', 'js/tsconfig.test.json', 'demo', 'e2e', 'examples/react-native'].map(
      (project) => ['tsc', ['--noEmit', '-p', project]],
    ),
  },
  {
    name: 'layers',
    commands: [
      ['node', ['scripts/check-layers.mjs']],
      ['node', ['scripts/draw-rooms.mjs', '--check']],
    ],
  },
  {
    name: 'scripts',
    commands: [['node', ['--test', '--test-reporter', 'spec', ...SCRIPT_TESTS]]],
    count: countNodeTest,
  },
  {
    name: 'rust',
    commands: [['cargo', ['test', '--locked', '--no-fail-fast']]],
    count: countLibtest,
  },
  {
    name: 'fuzz',
    commands: [
      ['cargo', ['test', '--locked', '--manifest-path', 'crate/fuzz/Cargo.toml', ...FUZZ_DIR]],
      ['node', ['scripts/fuzz.mjs', '--seconds', '5']],
    ],
    count: countLibtest,
  },
  {
    name: 'doc',
    commands: [['cargo', ['doc', '--locked', '--no-deps'], { RUSTDOCFLAGS: '-D warnings' }]],
  },
  {
    name: 'vitest',
    needsBuild: true,
    cwd: join(ROOT, 'js'),
    commands: [
      [
        'vitest',
        ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${VITEST_REPORT}`],
      ],
    ],
    count: () => countVitest(takeReport('vitest.json')),
  },
  {
    name: 'hermes',
    needsBuild: true,
    commands: [['node', ['scripts/hermes.mjs']]],
    count: countHermes,
  },
  { name: 'example', needsBuild: true, commands: [['node', ['scripts/example.mjs']]] },
  { name: 'size', needsBuild: true, commands: [['node', ['scripts/check-size.mjs']]] },
  {
    name: 'e2e',
    needsBuild: true,
    needsBrowser: true,
    cwd: join(ROOT, 'e2e'),
    commands: [['playwright', ['test'], () => ({ CHROMIUM_PATH: findBrowser() })]],
    count: () => countPlaywright(takeReport('playwright.json')),
  },
  {
    name: 'demo',
    needsBuild: true,
    needsBrowser: true,
    commands: [['node', ['scripts/demo.mjs', '--headless']]],
  },
];

/** Removes what an earlier run may have left: only this run's reports are counted. */
export function clearReports() {
  rmSync(REPORT_DIR, { recursive: true, force: true });
  mkdirSync(REPORT_DIR, { recursive: true });
}
