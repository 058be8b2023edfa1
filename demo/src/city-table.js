/**
 * Defines the table of cities. Plain JavaScript, since `headless.mjs` makes the same rows in Node, to compare the
 * roots.
 */
import { rowType, table } from 'hedgerow';

const schema = /** @type {typeof rowType<import('./cities.js').City>} */ (rowType)();

/** The rows alone, as the load stores them. */
export const plainCities = table({ schema, key: 'id' });

/** The same rows with indexes. Both begin with the country, so one country is one range of either. */
export const indexedCities = table({
  schema,
  key: 'id',
  indexes: {
    byPopulation: ['country', 'population'],
    byName: ['country', 'name'],
  },
});
