/** Random rows, definitions of indexes and their ranges, and a model of the entries. */

import type { IndexDefinition } from '../../../src/core/indexes/definition.js';
import type { EntryPosition } from '../../../src/core/indexes/index-range.js';
import type { Scalar } from '../../../src/core/indexes/scalar.js';
import type { IndexScanOptions } from '../../../src/engine/read/scan-options.js';
import type { IndexDefinitions } from '../../../src/index.js';
import type { Random } from '../random.js';
import { columnsOf, entriesOfRows, type IndexedEntry, selectEntries } from './index-model.js';
import { sorted } from './store-model.js';

// Includes keys whose order in UTF-16 differs from their order in UTF-8.
export const KEYS = [
  'k',
  'k0',
  'k1',
  'k1a',
  'k2',
  'k3',
  'ké',
  'k\u{e000}',
  'k～',
  'k😀',
  'm',
  'm1',
];
const STRINGS = ['', 'a', 'ab', 'a\0', 'a\0b', 'a\x01', 'b', '～', '😀', 'B, É-ab B', 'Ж 😀a', '…'];
const NUMBERS = [-1e300, -2, -1.5, 0, -0, 5e-324, 0.1, 1, 2, 10];

const POOL: readonly (readonly [string, IndexDefinition])[] = [
  ['owner', { path: '/owner' }],
  ['tags', { path: '/tags' }],
  ['state', { path: ['/owner', '/age'] }],
  ['mixed', { path: ['/age', '/tags'], prefix: 'k' }],
  ['some', { path: '/age', prefix: 'k1' }],
  ['whole', { path: '' }],
  ['nulls', { path: '/owner', prefix: 'k', nulls: true }],
  ['pair', { path: ['/tags', '/age'], prefix: 'k', nulls: true, below: 'b' }],
  ['old', { path: '/age', below: 1 }],
  ['older', { path: '/age', prefix: 'k', nulls: true, below: true }],
  ['none', { path: ['/owner', '/tags'], nulls: true }],
  ['words', { path: { words: '/owner' } }],
  ['texts', { path: ['/age', { words: '/tags' }], prefix: 'k', nulls: true }],
  ['newest', { path: [{ words: '/tags' }, '/age', '/owner'], below: 'b' }],
];

export function definitionsOf(from: Random): IndexDefinitions {
  return Object.fromEntries(from.shuffle(POOL).slice(0, 1 + from.below(3)));
}

/** Few values, so that ranges have several entries. */
let palette: readonly (string | number | boolean)[] = [];

export function choosePalette(from: Random): void {
  palette = [];
  if (from.below(3) > 0) palette = Array.from({ length: 2 + from.below(2) }, () => scalarOf(from));
}

export function scalarOf(from: Random): string | number | boolean {
  if (palette.length > 0 && from.below(8) > 0) return from.pick(palette);
  return from.pick<() => string | number | boolean>([
    () => from.pick(STRINGS),
    () => from.pick(NUMBERS),
    () => from.below(2) === 0,
  ])();
}

export function memberOf(from: Random): unknown {
  const kind = from.below(8);
  if (kind === 0) return null;
  if (kind === 1) return { a: scalarOf(from) };
  if (kind < 4) return Array.from({ length: from.below(4) }, () => scalarOf(from));
  return scalarOf(from);
}

export function rowValue(from: Random): unknown {
  const kind = from.below(12);
  if (kind === 0) return new Uint8Array(from.below(3) === 0 ? 5000 : 3).fill(from.below(9));
  if (kind === 1) return JSON.parse(JSON.stringify(memberOf(from)));
  const value: Record<string, unknown> = {};
  for (const name of from.shuffle(['owner', 'tags', 'age']).slice(0, 1 + from.below(3))) {
    value[name] = memberOf(from);
  }
  // Some values are stored out of line.
  if (kind === 2) value.text = 'x'.repeat(5000);
  return JSON.parse(JSON.stringify(value));
}

export type Range = Omit<IndexScanOptions, 'signal' | 'wait'>;

/** Returns a scalar that a range of this index may have. */
const boundOf = (from: Random, { nulls }: IndexDefinition): Scalar =>
  nulls && from.below(4) === 0 ? null : scalarOf(from);

export function rangeOf(from: Random, definitions: IndexDefinitions): Range {
  const [index, definition] = from.pick(Object.entries(definitions)) as [string, IndexDefinition];
  const columns = columnsOf(definition).length;
  const skipped = from.below(2) * from.below(columns);
  const key = (most: number) => {
    const count = 1 + from.below(most);
    const scalars = Array.from({ length: count }, () => boundOf(from, definition));
    return count === 1 && from.below(2) === 0 ? (scalars[0] as Scalar) : scalars;
  };
  const bound = () => key(columns - skipped);
  const first = Array.from({ length: skipped }, () => boundOf(from, definition));
  const equals = skipped === 1 && from.below(2) === 0 ? first[0] : first;
  return {
    index,
    ...(skipped > 0 && { equals }),
    ...from.pick<() => Omit<Range, 'index'>>([
      () => ({}),
      () => ({ equals: key(columns) }),
      () => ({ prefix: from.pick(STRINGS) || 'a' }),
      () => ({ prefix: from.pick(STRINGS) || 'a', gte: bound() }),
      () => ({ gt: bound() }),
      () => ({ lte: bound() }),
      () => ({ gte: bound(), lt: bound() }),
      () => ({ gt: bound(), lte: bound() }),
    ])(),
  };
}

/** Returns a position in an index; its entry may be absent. */
export function positionIn(
  from: Random,
  definitions: IndexDefinitions,
  index: string,
): EntryPosition {
  const definition = definitions[index] as IndexDefinition;
  const scalars = columnsOf(definition).map(() => boundOf(from, definition));
  return [scalars.length === 1 ? (scalars[0] as Scalar) : scalars, from.pick(KEYS)];
}

/** Returns the expected entries of a range of an index. */
export function modelOf(
  rows: ReadonlyMap<string, unknown>,
  definitions: IndexDefinitions,
  { index, ...range }: Range,
): IndexedEntry[] {
  return selectEntries(entriesOfRows(definitions[index] as IndexDefinition, sorted(rows)), range);
}
