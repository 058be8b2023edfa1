/** Reads the rows of a request: as few as an index allows. */

import { compareValues, isInOrderOfIndex } from './compare-values.js';
import { accessesOf, type Candidate, type ReadAccess } from './index-access-paths.js';
import type { Boundary, CollectionRow, Lead, SubsetPart } from './subset-request.js';

/** A range of a candidate; it may be empty. */
export interface Part {
  /** The values of the first columns; `bounds` are for the next column. */
  readonly start: readonly unknown[];
  readonly bounds: ReadAccess['bounds'];
  readonly reverse?: boolean;
  readonly offset?: number;
  readonly limit?: number;
}

/** The rows of one commit, and the candidates to read them by. */
export interface RowSource<C extends Candidate, Found extends { readonly row: CollectionRow }> {
  readonly candidates: readonly C[];
  count(by: C, part: Part): Promise<number>;
  scan(by: C, part: Part): AsyncIterable<Found>;
  /** Reads the rows whose keys are `starts`, each with all columns, if the candidate is the key. */
  get(by: C, starts: ReadAccess['starts']): AsyncIterable<Found>;
  /** Reads all rows, in the order of keys. */
  all(): AsyncIterable<Found>;
  /** Returns the name of a row. */
  keyOf(found: Found): unknown;
}

/** The result of a read: all wanted rows up to the boundary, which is absent if there are no more. */
export interface Read<Found> {
  readonly found: readonly Found[];
  readonly boundary: Boundary | undefined;
}

/** Ranges of an access whose rows are counted: the others are taken to have as many. */
const MOST_COUNTED = 64;

/** Whether an access names rows by their whole keys. */
const isOfKeys = ({ by, starts }: ReadAccess) =>
  by.isKey && starts.every((start) => start.length === by.columns.length);

/** The result for an index with another order than the requested one. */
const OTHER_ORDER = Symbol();

/** A plan to read a request. */
export interface RequestPlan<C extends Candidate = Candidate> {
  readonly wanted: SubsetPart;
  /** Absent where all rows are read. */
  readonly access: ReadAccess<C> | undefined;
  /** Whether rows are read in the requested order, until there are enough. */
  readonly isOrdered: boolean;
}

/** Reads the wanted rows, with all ties of the last one. */
export async function readPlanned<
  C extends Candidate,
  Found extends { readonly row: CollectionRow },
>(
  ground: RowSource<C, Found>,
  { wanted, access, isOrdered }: RequestPlan<C>,
): Promise<Read<Found>> {
  if (access !== undefined && isOrdered && wanted.lead !== undefined) {
    const read = await readOrdered(ground, access, wanted, wanted.lead);
    if (read !== OTHER_ORDER) return read;
  }
  const rows = new Map<unknown, Found>();
  for (const source of access === undefined ? [ground.all()] : scansOf(ground, access)) {
    for await (const found of source) {
      if (wanted.test(found.row)) rows.set(ground.keyOf(found), found);
    }
  }
  return cut([...rows.values()], wanted);
}

/** Chooses the access that reads the fewest rows, as far as counts show. */
export async function planRequest<
  C extends Candidate,
  Found extends { readonly row: CollectionRow },
>(ground: RowSource<C, Found>, wanted: SubsetPart): Promise<RequestPlan<C>> {
  const { conditions, lead, limit } = wanted;
  const useful = accessesOf(ground.candidates, conditions, lead?.path).filter(
    ({ answers, isOrdered }) => answers > 0 || isOrdered,
  );
  if (useful.length === 0) return { wanted, access: undefined, isOrdered: false };
  const counted = await Promise.all(
    useful.map(async (access) => {
      const { by, bounds, starts } = access;
      if (isOfKeys(access)) return { access, count: starts.length };
      const some = starts.slice(0, MOST_COUNTED);
      const counts = await Promise.all(some.map((start) => ground.count(by, { start, bounds })));
      const sum = counts.reduce((all, one) => all + one, 0);
      return { access, count: sum * (starts.length / Math.max(1, some.length)) };
    }),
  );
  const fewest = Math.max(1, Math.min(...counted.map(({ count }) => count)));
  const costs = counted.map(({ access, count }) => {
    // A longer range is taken to have as many wanted rows as the shortest one.
    const ordered = access.isOrdered ? limit * access.starts.length * (count / fewest) : Infinity;
    return { wanted, access, isOrdered: ordered < count, cost: Math.min(count, ordered) };
  });
  costs.sort((a, b) => a.cost - b.cost || b.access.answers - a.access.answers);
  return costs[0] as (typeof costs)[0];
}

function scansOf<C extends Candidate, Found extends { readonly row: CollectionRow }>(
  ground: RowSource<C, Found>,
  access: ReadAccess<C>,
): AsyncIterable<Found>[] {
  const { by, starts, bounds } = access;
  if (isOfKeys(access)) return [ground.get(by, starts)];
  return starts.map((start) => ground.scan(by, { start, bounds }));
}

/** Reads each range in the order until it has enough. */
async function readOrdered<C extends Candidate, Found extends { readonly row: CollectionRow }>(
  ground: RowSource<C, Found>,
  access: ReadAccess<C>,
  wanted: SubsetPart,
  lead: Lead,
): Promise<Read<Found> | typeof OTHER_ORDER> {
  const all = new Map<unknown, Found>();
  let boundary: Boundary | undefined;
  for (const start of access.starts) {
    let count = 0;
    let last: unknown;
    let isFull = false;
    for await (const found of inOrder(ground, access, start, lead)) {
      const value = lead.of(found.row);
      isFull = count >= wanted.limit && compareValues(value, last, lead.how) !== 0;
      if (isFull) break;
      if (!wanted.test(found.row) || all.has(ground.keyOf(found))) continue;
      all.set(ground.keyOf(found), found);
      last = value;
      count += 1;
      if (!isInOrderOfIndex(value, lead.how)) return OTHER_ORDER;
    }
    // Rows are missing after the first of the boundaries.
    const isFirst = boundary === undefined || compareValues(last, boundary.value, lead.how) < 0;
    if (isFull && isFirst) boundary = { value: last };
  }
  const found = [...all.values()];
  const end = boundary;
  if (end === undefined) return cut(found, wanted);
  const isBefore = ({ row }: Found) => compareValues(lead.of(row), end.value, lead.how) <= 0;
  return cut(found.filter(isBefore), wanted, end);
}

/** Yields the rows of a range in the order of the column after its start, with rows that lack it in their place. */
async function* inOrder<C extends Candidate, Found extends { readonly row: CollectionRow }>(
  ground: RowSource<C, Found>,
  { by, bounds }: ReadAccess<C>,
  start: readonly unknown[],
  { how }: Lead,
): AsyncGenerator<Found, void, void> {
  const reverse = how.direction === 'desc';
  const part = { start, bounds, reverse };
  const isNatural = (how.nulls === 'first') !== reverse;
  const without = { start: [...start, null], bounds: {} };
  const nulls =
    by.nulls && !isNatural && Object.keys(bounds).length === 0
      ? await ground.count(by, without)
      : 0;
  if (nulls === 0) {
    yield* ground.scan(by, part);
    return;
  }
  if (!reverse) yield* ground.scan(by, { ...part, offset: nulls });
  yield* ground.scan(by, without);
  if (!reverse) return;
  const limit = (await ground.count(by, part)) - nulls;
  if (limit > 0) yield* ground.scan(by, { ...part, limit });
}

/** Returns the first rows in the order, with all ties of the last one. */
function cut<Found extends { readonly row: CollectionRow }>(
  found: readonly Found[],
  { lead, limit }: SubsetPart,
  boundary?: Boundary,
): Read<Found> {
  if (lead === undefined || found.length <= limit) return { found, boundary };
  const { how } = lead;
  const sorted = found
    .map((one) => ({ one, value: lead.of(one.row) }))
    .sort((a, b) => compareValues(a.value, b.value, how));
  const last = sorted[limit - 1]?.value;
  const first = sorted.filter(({ value }) => compareValues(value, last, how) <= 0);
  const isAll = first.length === sorted.length;
  return { found: first.map(({ one }) => one), boundary: isAll ? boundary : { value: last } };
}
