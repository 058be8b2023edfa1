// Runs the fuzz targets of the objects of a remote, which are decoded in TypeScript: `node scripts/long/fuzz-remote.mjs
// [--seconds N] [--seed N] [target...]`, 5 seconds for each target and all of them by default. Inputs come from the
// vectors and from earlier inputs that reached new code; most changes also mend their checksums, to reach the code
// behind the checks. Prints a line for each target, and exits with 1 when one finds a fault: its input is then kept
// under `.cache/fuzz`.

import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { rolldown } from 'rolldown';
import { Coverage } from '../lib/coverage.mjs';
import { mutated, randomOf } from '../lib/mutate.mjs';
import { CommandFailed, ROOT, runMain } from '../lib/run.mjs';

const OUT_DIR = join(ROOT, '.cache', 'fuzz', `remote-${process.pid}`);
const FOUND_DIR = join(ROOT, '.cache', 'fuzz');
const BATCH = 16;

/** Bundles the targets, and loads them. */
async function load() {
  const build = await rolldown({
    input: join(ROOT, 'js', 'hedgerow', 'test', 'support', 'remote-fuzz.ts'),
    platform: 'node',
    resolve: { extensionAlias: { '.js': ['.ts', '.js'] } },
    logLevel: 'silent',
  });
  mkdirSync(OUT_DIR, { recursive: true });
  const out = join(OUT_DIR, 'targets.mjs');
  await build.write({ file: out, format: 'esm', codeSplitting: false });
  await build.close();
  const url = pathToFileURL(out).href;
  // Before the code is compiled, so that its first run is counted.
  const coverage = new Coverage(url);
  return { coverage, ...(await import(url)) };
}

function vectorsOf(kind) {
  const file = join(ROOT, 'vectors', 'remote', 'objects.json');
  const { objects, refused } = JSON.parse(readFileSync(file, 'utf8'));
  // Targets encrypt plain objects.
  const own = [...objects, ...refused].filter((one) => one.kind === kind.replace('sealed-', ''));
  return own.map(({ bytes }) => Uint8Array.from(Buffer.from(bytes, 'hex')));
}

const nameOf = (bytes) => createHash('sha256').update(bytes).digest('hex').slice(0, 16);

/** Runs one target; returns its row of the table. */
async function fuzz(name, { TARGETS, resealed, coverage }, { seconds, seed }) {
  const target = TARGETS[name];
  const folder = join(FOUND_DIR, `remote-${name}`);
  mkdirSync(folder, { recursive: true });
  const random = randomOf(seed);
  const inputs = [];
  // Inputs that are objects: most others only exercise the first check that they fail.
  const sound = [];
  let [runs, objects] = [0, 0];
  const run = async (bytes) => {
    runs += 1;
    try {
      const isSound = await target(bytes);
      if (isSound) objects += 1;
      return isSound;
    } catch (error) {
      const place = join(FOUND_DIR, `fault-${name}-${nameOf(bytes)}`);
      writeFileSync(place, bytes);
      console.error(error);
      throw new CommandFailed(`${name} found a fault; its input is ${relative(ROOT, place)}`);
    }
  };
  const keep = (bytes, isSound) => {
    inputs.push(bytes);
    if (isSound) sound.push(bytes);
  };
  for (const bytes of vectorsOf(name)) {
    keep(bytes, await run(bytes));
  }
  coverage.reached();
  for (const file of readdirSync(folder)) {
    const bytes = Uint8Array.from(readFileSync(join(folder, file)));
    const isSound = await run(bytes);
    if (coverage.reached().length > 0) keep(bytes, isSound);
    else rmSync(join(folder, file));
  }
  const change = () => {
    // One of the newest, or a sound one, most of the time.
    const isNewest = random.next() < 0.3;
    const from = isNewest ? Math.floor((3 * inputs.length) / 4) : 0;
    const isSound = !isNewest && random.next() < 0.7;
    const bytes = isSound ? random.pick(sound) : inputs[from + random.below(inputs.length - from)];
    const changed = mutated(bytes, random.pick(inputs), random);
    return random.next() < 0.95 ? resealed(changed) : changed;
  };
  const [before, end] = [coverage.places, performance.now() + 1000 * seconds];
  while (performance.now() < end) {
    // V8 takes longer to report than a decoder runs, so one report covers several inputs.
    const batch = Array.from({ length: BATCH }, change);
    for (const bytes of batch) await run(bytes);
    const places = coverage.reached();
    if (places.length === 0) continue;
    for (const bytes of batch) {
      const isSound = await run(bytes);
      if (!coverage.reaches(places)) continue;
      keep(bytes, isSound);
      writeFileSync(join(folder, nameOf(bytes)), bytes);
    }
  }
  return {
    ...{ target: name, runs, 'runs/s': Math.round(runs / seconds), objects },
    ...{ places: coverage.places, found: coverage.places - before, inputs: inputs.length },
  };
}

await runMain(async () => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      seconds: { type: 'string', default: '5' },
      seed: { type: 'string', default: String(1 + (Date.now() % 1e9)) },
    },
  });
  const [seconds, seed] = [Number(values.seconds), Number(values.seed)];
  if (!(seconds > 0) || !(seed > 0)) throw new CommandFailed('--seconds and --seed are above 0');
  try {
    const loaded = await load();
    const known = Object.keys(loaded.TARGETS);
    const unknown = positionals.find((name) => !known.includes(name));
    if (unknown) throw new CommandFailed(`${unknown} is no target; there are ${known.join(', ')}`);
    const rows = [];
    for (const name of positionals.length > 0 ? positionals : known) {
      rows.push(await fuzz(name, loaded, { seconds, seed }));
    }
    const line = (cells) => cells.map((cell) => String(cell).padStart(11)).join('');
    console.log([Object.keys(rows[0]), ...rows.map(Object.values)].map(line).join('\n'));
    console.log(`seed ${seed}`);
    loaded.coverage.end();
  } finally {
    rmSync(OUT_DIR, { recursive: true, force: true });
  }
});
