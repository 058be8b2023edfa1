/**
 * Defines the table of cities. Plain JavaScript, since `headless.mjs` makes the same rows in Node, to compare the
 * roots.
 */
import { table } from 'hedgerow';

const define = /** @type {import('hedgerow').Define<import('./cities.js').City>} */ (table());

/** The rows alone, as the load stores them. */
export const plainCities = define({ key: 'id' });

/** The same rows with indexes. Both begin with the country, so one country is one range of either. */
export const indexedCities = define({
  key: 'id',
  indexes: {
    byPopulation: ['country', 'population'],
    byName: ['country', 'name'],
  },
});
