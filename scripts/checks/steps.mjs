// The steps of `npm test`, and the first steps of the deep tier, in their order: cheap ones first.
//
//   name, what   its name, and what it checks
//   seconds      about how long it takes by itself on two cores
//   inputs       files and folders (`inputs.mjs`): while they are the same, a step that passed does not run again
//   tests        picks the test files among all files; each is stamped by itself, with its imports
//   isTiered     the deep tier runs more of it: each tier has its own stamps
//   commands     [program, arguments, environment] each; in `cwd`
//   judge        reads its output or its report: `{ counts, passed }`
//   needs        steps and jobs of set-up that must end before it begins
//   lane, alone  the steps with which it may not overlap (`schedule.mjs`)

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { PUBLISHED } from '../lib/published.mjs';
import { ROOT } from '../lib/run.mjs';
import { counted, playwright, typed, vitest } from './commands.mjs';
import { countLibtest, countMatrix, countNodeTest } from './counts.mjs';
import { BROWSER_TESTS, CORE, PACKAGE, TARBALL, WRAPPER_TESTS } from './inputs.mjs';

const WASM = ['--target', 'wasm32-unknown-unknown', '--lib'];
export const DENY_WARNINGS = ['--', '-D', 'warnings'];
/** The packages whose documentation has examples. */
const DOCUMENTED = ['hedgerow', 'hedgerow-sums', 'hedgerow-trees'].flatMap((one) => ['-p', one]);
const TYPED = [...PUBLISHED.map((folder) => `js/${folder}`), 'demo', 'e2e'];
// Lists the files: newer versions of Node do not accept a folder, older ones no pattern.
const SCRIPT_TESTS = readdirSync(join(ROOT, 'scripts', 'test')).map(
  (file) => `scripts/test/${file}`,
);

/** The steps that both tiers run in the same way. */
export const STATIC_STEPS = [
  {
    name: 'fmt',
    what: 'the format of Rust',
    seconds: 1,
    lane: 'cargo',
    needs: ['toolchain'],
    inputs: ['crate', 'rustfmt.toml', 'Cargo.toml', 'rust-toolchain.toml'],
    commands: [['cargo', ['fmt', '--check']]],
  },
  {
    name: 'biome',
    what: 'formats and lints of everything else',
    seconds: 2,
    needs: ['packages'],
    inputs: ['.', '!crate'],
    commands: [['biome', ['check', '--error-on-warnings']]],
  },
  {
    name: 'layers',
    what: 'imports point down, and the drawing of the rooms is right',
    seconds: 1,
    needs: ['packages'],
    inputs: ['crate', ...PACKAGE, 'scripts', 'docs/architecture.md'],
    commands: [
      ['node', ['scripts/check-layers.mjs']],
      ['node', ['scripts/draw-rooms.mjs', '--check']],
    ],
  },
  {
    name: 'words',
    what: 'the sentences of comments and pages, and the names, by `scripts/words.json`',
    seconds: 12,
    needs: ['packages'],
    inputs: ['crate', 'demo', 'docs', 'e2e', 'examples', 'js', 'scripts', 'site'],
    commands: [['node', ['scripts/check-words.mjs']]],
  },
  {
    name: 'figures',
    what: 'the figures of the pages are the published ones',
    seconds: 1,
    needs: ['packages'],
    inputs: ['README.md', 'js/hedgerow/README.md', 'docs', 'scripts'],
    commands: [['node', ['scripts/figures.mjs', '--check']]],
  },
  {
    name: 'scripts',
    what: 'the tests of the scripts',
    seconds: 4,
    needs: ['packages'],
    // They check everything that scripts work on.
    inputs: ['.'],
    commands: [['node', ['--test', '--test-reporter', 'spec', ...SCRIPT_TESTS]]],
    ...counted(countNodeTest),
  },
  {
    name: 'build',
    what: 'the package, as it is published',
    seconds: 30,
    lane: 'package',
    needs: ['toolchain', 'packages'],
    // It finds the outdated parts itself.
    commands: [['node', ['scripts/build.mjs']]],
  },
  {
    name: 'clippy',
    what: 'the lints of Rust',
    seconds: 20,
    lane: 'cargo',
    needs: ['toolchain'],
    inputs: CORE,
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
    inputs: [...PACKAGE, ...TYPED, 'scripts'],
    commands: typed([...TYPED, 'js/tsconfig.test.json']),
  },
  {
    name: 'types',
    what: 'the types that apps infer, and what must not compile, by the newest TypeScript',
    seconds: 4,
    needs: ['build'],
    inputs: [...PACKAGE, 'js/hedgerow/test/types', 'scripts/check-types.mjs'],
    commands: [
      ['tsc', ['-p', 'js/hedgerow/test/types']],
      ['node', ['scripts/check-types.mjs', '--newest']],
    ],
  },
  {
    name: 'snippets',
    what: 'the TypeScript in the pages compiles, and their numbers of browser tests are right',
    seconds: 10,
    needs: ['build'],
    inputs: [...PACKAGE, 'README.md', 'js', 'docs', 'e2e', 'examples', 'scripts'],
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
    inputs: [...PACKAGE, 'scripts/check-size.mjs', 'docs/figures.json'],
    commands: [['node', ['scripts/check-size.mjs']]],
  },
];

/** The tests of the core. */
export const RUST = {
  name: 'rust',
  what: 'the tests of the core',
  seconds: 70,
  isTiered: true,
  lane: 'cargo',
  needs: ['toolchain'],
  inputs: CORE,
  // Without examples, which `clippy` checks.
  commands: [
    ['cargo', ['test', '--locked', '--no-fail-fast', '--tests']],
    ['cargo', ['test', '--locked', '--no-fail-fast', '--doc', ...DOCUMENTED]],
  ],
  ...counted(countLibtest),
};

/** The tests of the wrapper in Node, or a part of them. */
export const VITEST = {
  name: 'vitest',
  what: 'the tests of the wrapper, in Node',
  seconds: 280,
  isTiered: true,
  needs: ['build', 'sqlite'],
  lane: 'vitest',
  inputs: WRAPPER_TESTS,
  tests: (name) => /^js\/\w[\w-]*\/test\/.*\.test\.ts$/.test(name),
  ...vitest({ report: 'vitest.json', cwd: join(ROOT, 'js') }),
};

/** The steps of `npm test`. */
export const EVERYDAY_STEPS = [
  ...STATIC_STEPS,
  { ...RUST, what: 'the tests of the core, with seeds of today' },
  {
    ...VITEST,
    what: 'the tests of the wrapper, in Node, with seeds of today, without an S3 server',
    tests: (name) => VITEST.tests(name) && !/-s3\.test\.ts$/.test(name),
    ...vitest({
      report: 'vitest.json',
      program: ['vitest', ['run', '--exclude', '**/*-s3.test.ts']],
      cwd: join(ROOT, 'js'),
    }),
  },
  {
    name: 'e2e',
    what: 'the core of the browser tests, in Chromium',
    seconds: 100,
    lane: 'browser',
    needs: ['build', 'chromium'],
    inputs: BROWSER_TESTS,
    ...playwright({
      report: 'playwright-core.json',
      program: ['playwright', ['test', '--project=core']],
      cwd: join(ROOT, 'e2e'),
    }),
  },
  {
    name: 'package',
    what: 'the packed package, imported by Node and bundled by Vite, and the code of the front page',
    seconds: 13,
    lane: 'package',
    needs: ['build', 'chromium', 'sqlite'],
    inputs: [...TARBALL, 'examples/matrix'],
    commands: [
      [
        'node',
        ['scripts/long/matrix.mjs', '--sample', '--as-built', '--only', 'node,vite,front-page'],
      ],
    ],
    ...counted(countMatrix),
  },
];
