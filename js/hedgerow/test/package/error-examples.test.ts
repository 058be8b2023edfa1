/**
 * Runs the pages of errors, and the sections of their details, from the first block to the last; where possible, the
 * first block throws the error.
 */
import { expect, it } from 'vitest';
import { HedgerowError } from '../../src/index.js';
import { kindOf } from '../support/error-kind.js';
import { blocksOf, pages } from '../support/snippet-list.mjs';
import { runBlocks } from './page-examples.js';
import { inFreshBrowsers, setting } from './page-settings.js';

/** The errors whose examples need no network, no other version and no fault of storage. */
const THROWN = [
  'remote/response',
  'blocked',
  'not-found/branch',
  'closed',
  'conflict',
  'exists',
  'invalid-argument',
  'invalid-data/export',
  'invalid-argument/key',
  'invalid-data/patch',
  'invalid-data/proof',
  'invalid-data/row',
  'invalid-argument/value',
  'not-found/store',
  'invalid-argument/sum-overflow',
  'wrong-key',
];

/** The blocks by their place: a page, and a detail after `#`. */
const PLACES = new Map<string, string[]>();
for (const page of pages().filter((name) => name.startsWith('docs/errors/'))) {
  for (const { detail, code } of blocksOf(page)) {
    const place = detail === undefined ? page : `${page}#${detail}`;
    PLACES.set(place, [...(PLACES.get(place) ?? []), code]);
  }
}
const placeOf = (kind: string) =>
  `docs/errors/${kind.replace(/\/|$/, (slash) => (slash ? '.md#' : '.md'))}`;

inFreshBrowsers();

it.each([...PLACES])('%s', async (place, blocks) => {
  const kind = THROWN.find((one) => placeOf(one) === place);
  const { after, ...options } = await setting(place);
  const thrown: unknown[] = [];
  const onThrown = kind === undefined ? undefined : (cause: unknown) => thrown.push(cause);
  await runBlocks(blocks, { ...options, onThrown });
  await after?.();
  if (kind === undefined) return;
  expect(thrown).toHaveLength(1);
  expect(thrown[0]).toBeInstanceOf(HedgerowError);
  expect(kindOf(thrown[0]), String(thrown[0])).toBe(kind);
});

it('each of these errors has a page, or a section', () => {
  expect([...PLACES.keys()]).toEqual(expect.arrayContaining(THROWN.map(placeOf)));
});
