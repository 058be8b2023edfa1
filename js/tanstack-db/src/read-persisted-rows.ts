/** Reads the rows of a persisted collection at one commit, by its indexes. */

import { after } from 'hedgerow/kit';
import { pathText } from './expression-conditions.js';
import type { Candidate } from './index-access-paths.js';
import {
  type CollectionKeys,
  encodeListedMember,
  type IndexMeta,
  type Meta,
  toListedValue,
} from './persisted-key-layout.js';
import type { Part, RowSource } from './plan-and-read-request.js';
import type { CollectionRow } from './subset-request.js';
import type { Key } from './table-source.js';

/** A row as it is stored. */
export interface RowRecord {
  readonly key: Key;
  readonly value: CollectionRow;
  readonly metadata?: unknown;
}

/** A row as it was read. */
export interface PersistedFound extends RowRecord {
  readonly place: string;
  readonly row: CollectionRow;
}

/** Rows that are read at once. */
const BATCH_ROWS = 500;

/** The reads of a commit. */
export interface CommitReads {
  get(key: string): Promise<unknown>;
  getMany(keys: readonly string[]): Promise<unknown[]>;
  count(range: object): Promise<number>;
  scan(options: object): AsyncIterable<readonly [key: string, value: unknown]> & {
    keys(): AsyncIterable<string>;
  };
}

interface PersistedCandidate extends Candidate {
  readonly index: IndexMeta | undefined;
}

/** Returns the rows of a commit, which `decode` decodes. */
export async function groundOf(
  at: CommitReads,
  places: CollectionKeys,
  meta: Meta | undefined,
  decode: (stored: unknown) => RowRecord,
): Promise<RowSource<PersistedCandidate, PersistedFound>> {
  const toRow = (place: string, stored: unknown): PersistedFound => {
    const row = decode(stored);
    return { ...row, place, row: row.value };
  };
  const candidates: PersistedCandidate[] = [];
  const others = new Map<IndexMeta, number>();
  for (const index of Object.values(meta?.indexes ?? {})) {
    if (index.path === undefined) continue;
    others.set(index, await at.count({ prefix: places.others(index) }));
    candidates.push({
      index,
      columns: [pathText(index.path)],
      nulls: true,
      isKey: false,
      // With rows outside the order, the index cannot be read in it.
      isUnordered: others.get(index) !== 0,
      columnOf: (value) =>
        encodeListedMember(value) === undefined ? undefined : toListedValue(value),
    });
  }
  const rangeOf = (index: IndexMeta, { start, bounds }: Part) => {
    const prefix = places.index(index) + (start.length > 0 ? encodeListedMember(start[0]) : '');
    const range: Record<string, string> = { prefix };
    for (const [name, value] of Object.entries(bounds)) {
      const text = encodeListedMember(value) as string;
      // The keys of a bound's rows come after the bound.
      const isBehind = name === 'gt' || name === 'lte';
      range[name === 'gt' ? 'gte' : name === 'lte' ? 'lt' : name] =
        prefix + (isBehind ? next(text) : text);
    }
    // Null comes first in an index, but is not below a bound.
    if (range.gte === undefined && range.lt !== undefined) range.gte = prefix + next('\x01');
    return range;
  };
  async function* byEntries(
    index: IndexMeta,
    entries: AsyncIterable<string>,
  ): AsyncGenerator<PersistedFound, void, void> {
    let keys: string[] = [];
    for await (const entry of entries) {
      keys.push(places.rowOf(index, entry));
      if (keys.length < BATCH_ROWS) continue;
      yield* byKeys(keys);
      keys = [];
    }
    yield* byKeys(keys);
  }
  async function* byKeys(keys: readonly string[]): AsyncGenerator<PersistedFound, void, void> {
    if (keys.length === 0) return;
    const stored = await at.getMany(keys);
    for (const [n, key] of keys.entries()) if (stored[n] !== undefined) yield toRow(key, stored[n]);
  }
  return {
    candidates,
    count: async (by, part) => {
      const index = by.index as IndexMeta;
      return (await at.count(rangeOf(index, part))) + (others.get(index) as number);
    },
    async *scan(by, part) {
      const index = by.index as IndexMeta;
      const { reverse, offset, limit } = part;
      const range = { ...rangeOf(index, part), reverse, offset, limit };
      yield* byEntries(index, at.scan(range).keys());
      if (others.get(index) !== 0) {
        yield* byEntries(index, at.scan({ prefix: places.others(index) }).keys());
      }
    },
    async *get() {},
    async *all() {
      for await (const [key, stored] of at.scan({ prefix: places.rows })) yield toRow(key, stored);
    },
    keyOf: ({ place }) => place,
  };
}

/** Returns the first text after all texts that begin with a scalar: its last character is ASCII. */
const next = (text: string) => after(text);
