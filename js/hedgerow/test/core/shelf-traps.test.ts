/** The core traps before most tables of a large store have entered it. */
import { afterEach, beforeAll, expect, it } from 'vitest';
import { open } from '../../src/index.js';
import { kindOf } from '../support/error-kind.js';
import { startCore } from '../support/start-core.js';
import { isPending, trapIn } from '../support/trapping.js';
import { copied, fill, NAME, ROWS, SOME } from './shelf-store.js';

beforeAll(fill);
afterEach(() => trapIn(Number.POSITIVE_INFINITY));

it.each(['add_table', 'await_tables', 'get', 'step'])('a trap in %s loses no row', async (name) => {
  const db = await open(NAME, { storage: await copied() });
  trapIn(1, name);
  const codes: unknown[] = [];
  await startCore(db).catch((cause) => codes.push(kindOf(cause)));
  for (const [key, row] of SOME) {
    await db.get(key).then(
      (found) => expect(found).toEqual(row),
      (cause) => codes.push(kindOf(cause)),
    );
  }
  // Reads of many rows step an operation; those above need not.
  const keys = SOME.map(([key]) => key);
  await db.getMany(keys).catch((cause) => codes.push(kindOf(cause)));
  expect(isPending()).toBe(false);
  expect(codes.every((code) => code === 'unavailable/crashed') && codes.length <= 1).toBe(true);
  expect(await db.getMany(keys)).toEqual(SOME.map(([, row]) => row));
  expect(await db.count()).toBe(ROWS);
  await db.close();
});
