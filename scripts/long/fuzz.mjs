// Runs the fuzz targets of the core: `node scripts/long/fuzz.mjs [--seconds N] [target...]`, 5
// seconds for each target and all of them by default. Each first replays its kept inputs.
//
// It does the same as `cargo fuzz run --sanitizer none`, with the pinned stable toolchain and no other installation:
// libFuzzer is compiled from the sources in `libfuzzer-sys` (which takes a C++ compiler), and LLVM's own pass
// instruments the Rust code.

import { mkdirSync, readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, relative } from 'node:path';
import { ask, CommandFailed, ROOT, run, runMain } from '../lib/run.mjs';

const FUZZ_DIR = join(ROOT, 'crate', 'fuzz');
const TARGET_DIR = join(process.env.CARGO_TARGET_DIR ?? join(ROOT, 'target'), 'fuzz');
/** Inputs that reached new code in earlier runs; the next run starts from them. */
const FOUND_DIR = join(ROOT, '.cache', 'fuzz');

const PASS_OPTIONS = [
  '-sanitizer-coverage-level=4',
  '-sanitizer-coverage-inline-8bit-counters',
  '-sanitizer-coverage-pc-table',
  '-sanitizer-coverage-trace-compares',
];
const RUSTFLAGS = [
  '--cfg=fuzzing',
  '-Cpasses=sancov-module',
  ...PASS_OPTIONS.map((option) => `-Cllvm-args=${option}`),
  // The pass needs whole modules. The debug checks stay: they find half of the faults.
  '-Ccodegen-units=1',
  '-Cdebug-assertions',
  '-Coverflow-checks',
];

function readArguments(args) {
  const known = readdirSync(join(FUZZ_DIR, 'fuzz_targets')).map((file) => file.replace('.rs', ''));
  let seconds = 5;
  const targets = [];
  while (args.length > 0) {
    const arg = args.shift();
    if (arg === '--seconds') seconds = Number(args.shift());
    else if (known.includes(arg)) targets.push(arg);
    else throw new CommandFailed(`${arg} is no target; there are ${known.join(', ')}`);
  }
  if (!(seconds > 0)) throw new CommandFailed('--seconds takes a number above 0');
  return { seconds: Math.ceil(seconds), targets: targets.length > 0 ? targets : known };
}

/** Builds the instrumented targets; returns the folder that they are in. */
async function build(targets) {
  const host = /^host: (.+)$/m.exec(ask('rustc', ['-vV']) ?? '')?.[1];
  if (host === undefined) throw new CommandFailed('no Rust toolchain: run `npm run setup`');
  if (process.platform === 'win32') throw new CommandFailed('libFuzzer needs Linux or macOS');
  const bins = targets.flatMap((target) => ['--bin', target]);
  // With `--target`, the flags do not apply to build scripts, which would fail with them.
  const where = ['--manifest-path', join(FUZZ_DIR, 'Cargo.toml'), '--target-dir', TARGET_DIR];
  await run('cargo', ['build', '--locked', '--release', '--target', host, ...where, ...bins], {
    env: { RUSTFLAGS: undefined, CARGO_ENCODED_RUSTFLAGS: RUSTFLAGS.join('\u001f') },
  });
  return join(TARGET_DIR, host, 'release');
}

/** Runs one target; returns its row of the table. */
async function fuzz(binary, target, seconds) {
  const found = join(FOUND_DIR, target);
  const artifacts = join(FUZZ_DIR, 'artifacts', target);
  const kept = ['corpus', 'regressions'].map((kind) => join(FUZZ_DIR, kind, target));
  for (const folder of [found, artifacts, ...kept]) mkdirSync(folder, { recursive: true });
  const limits = ['-max_len=4096', '-timeout=20', '-rss_limit_mb=1024'];
  const report = ['-print_final_stats=1', `-artifact_prefix=${artifacts}/`];
  const args = [`-max_total_time=${seconds}`, ...limits, ...report, found, ...kept];
  let log;
  try {
    // Hides the output: it has a line for each input that reaches new code, thousands in all.
    log = await run(binary, args, { quiet: true });
  } catch (error) {
    console.error(error.output.split('\n').slice(-60).join('\n'));
    const place = relative(ROOT, artifacts);
    throw new CommandFailed(`${target} found a fault; its input is the newest file in ${place}`);
  }
  const number = (pattern) => Number(log.match(pattern)?.[1]);
  return {
    target,
    runs: number(/^stat::number_of_executed_units: +(\d+)/m),
    'runs/s': number(/^stat::average_exec_per_sec: +(\d+)/m),
    edges: number(/DONE +cov: (\d+)/),
    inputs: number(/DONE .*corp: (\d+)/),
  };
}

/** Runs all targets, as many at a time as there are cores; returns their rows. */
async function fuzzAll(folder, targets, seconds) {
  const rows = [];
  const waiting = [...targets];
  const work = async () => {
    for (let target = waiting.shift(); target !== undefined; target = waiting.shift()) {
      console.log(`${target}: ${seconds} s`);
      rows.push(await fuzz(join(folder, target), target, seconds));
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  return rows;
}

await runMain(async () => {
  const { seconds, targets } = readArguments(process.argv.slice(2));
  const rows = await fuzzAll(await build(targets), targets, seconds);
  const columns = Object.keys(rows[0]);
  const line = (cells) => cells.map((cell) => String(cell).padStart(10)).join('');
  console.log([columns, ...rows.map(Object.values)].map(line).join('\n'));
});
