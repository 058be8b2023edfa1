/** Random tables, rows, edits and queries, against a plain list of rows. */
import { expect, it } from 'vitest';
import { memory, open, rowType, type Store, table } from '../../../src/index.js';
import type { StandardSchema } from '../../../src/store/tables/standard-schema.js';
import { ofKind } from '../../support/error-kind.js';
import { rowsIn, SOON } from '../../support/models/store-model.js';
import {
  accessOf,
  columnOf,
  compareRows,
  compareValues,
  fulfils,
  isBefore,
  keyOf,
  type ModelQuery,
  type ModelTable,
  memberAt,
  type Placed,
  type Row,
  selected,
  withoutConditions,
} from '../../support/models/tables-model.js';
import {
  type Loose,
  Model,
  queryOf,
  someMember,
  someQuery,
  someRow,
  someTable,
  sourceOf,
  tableOf,
} from '../../support/models/tables-some.js';
import { type BeginStep, forSeeds, hasAllSeeds } from '../../support/property.js';
import type { Random } from '../../support/random.js';

const SEEDS = 40;
const STEPS = 14;

const tally = {
  queries: 0,
  refused: 0,
  rows: 0,
  exact: 0,
  scans: 0,
  after: 0,
  deletes: 0,
  writes: 0,
  watches: 0,
};

async function iterated(query: AsyncIterable<Row>): Promise<Row[]> {
  const rows: Row[] = [];
  for await (const row of query) rows.push(row);
  return rows;
}

/** Whether a row has one place in the reads of a query, so that the query can begin after it. */
function isSingle(table: ModelTable, query: ModelQuery, { row, entry }: Placed): boolean {
  if (entry === undefined) return true;
  const access = accessOf(table, query) ?? accessOf(table, withoutConditions(query));
  const columns = access === 'keys' ? [] : (access?.columns ?? []);
  const isExact = accessOf(table, query) !== undefined;
  return columns.every((column) => {
    if (isExact && query.equal.has(column)) return true;
    const member = memberAt(row, column);
    return !Array.isArray(member) || member.length < 2;
  });
}

async function checkQuery(
  from: Random,
  table: ModelTable,
  place: Loose,
  model: Model,
  begin: BeginStep,
) {
  const query = someQuery(from, table, model.rows);
  begin({ ...query, equal: [...query.equal], table });
  const made = queryOf(from, place.all(), query);
  const found = selected(table, query, model.rows);
  tally.queries += 1;
  if (found === undefined) {
    tally.refused += 1;
    await expect(made.toArray()).rejects.toMatchObject({
      ...ofKind('invalid-argument'),
      table: 'rows',
    });
    await expect(made.count()).rejects.toMatchObject({
      ...ofKind('invalid-argument'),
      table: 'rows',
    });
    return;
  }
  const expected = found.map(({ row }) => row);
  tally.rows += expected.length;
  if (accessOf(table, query) === undefined) tally.scans += 1;
  else tally.exact += 1;
  expect(await made.toArray()).toEqual(expected);
  expect(await made.count()).toBe(expected.length);
  const [offset, limit] = [from.below(4), from.below(5)];
  const part = made.offset(offset).limit(limit);
  const window = expected.slice(offset, offset + limit);
  expect(await part.toArray()).toEqual(window);
  expect(await part.count()).toBe(window.length);
  expect(await iterated(from.next() < 0.5 ? part : made)).toEqual(
    expect.toSatisfy((rows: Row[]) => [window.length, expected.length].includes(rows.length)),
  );
  const n = from.below(expected.length + 2);
  expect(await made.at(n)).toEqual(expected[n]);
  expect(await part.at(n)).toEqual(window[n]);
  expect(await made.first()).toEqual(expected[0]);
  if (expected.length === 0) return;
  const at = from.below(expected.length);
  const placed = found[at] as Placed;
  if (!isSingle(table, query, placed)) return;
  tally.after += 1;
  const rest = found.filter(({ entry }, index) => {
    if (entry === undefined || placed.entry === undefined) return index > at;
    return query.reverse ? isBefore(entry, placed.entry) : isBefore(placed.entry, entry);
  });
  const later = rest.map(({ row }) => row);
  expect(await made.after(placed.row).toArray()).toEqual(later);
  expect(await made.after(placed.row).limit(2).toArray()).toEqual(later.slice(0, 2));
  expect(await made.after(placed.row).count()).toBe(later.length);
}

async function checkAll(
  table: ModelTable,
  place: Loose,
  model: Model,
  from: Random,
): Promise<void> {
  const sorted = [...model.rows].sort((a, b) => compareRows(table, a, b));
  expect(await place.all().toArray()).toEqual(sorted);
  expect(await iterated(place)).toEqual(sorted);
  expect(await place.all().count()).toBe(sorted.length);
  const probes = Array.from({ length: 4 }, () => someRow(from, table, sorted[0]));
  const found = probes.map((row) => model.get(row));
  const keys = probes.map((row) => keyOf(table, row));
  expect(await place.getMany(from.next() < 0.5 ? keys : keys.values())).toEqual(found);
  const [probe] = probes as [Row];
  expect(await place.get(keyOf(table, probe))).toEqual(found[0]);
  expect(await place.has(keyOf(table, probe))).toBe(found[0] !== undefined);
  const before = sorted.filter((row) => compareRows(table, row, probe) < 0);
  expect(await place.rank(keyOf(table, probe))).toBe(before.length);
}

/** Changes a table and its model alike. `isWhole`: not in a transaction. */
async function edit(
  from: Random,
  table: ModelTable,
  place: Loose,
  model: Model,
  db: Store | undefined,
): Promise<void> {
  const row = someRow(from, table, model.rows[0]);
  const key = keyOf(table, row);
  const present = model.get(row);
  tally.writes += 1;
  switch (from.below(db === undefined ? 7 : 11)) {
    case 0:
    case 1:
      await place.put(row);
      model.put(row);
      return;
    case 2:
      if (present !== undefined) {
        await expect(place.insert(row)).rejects.toMatchObject({ code: 'exists', table: 'rows' });
        return;
      }
      await place.insert(row);
      model.put(row);
      return;
    case 3: {
      const change = { a: someMember(from, table), b: undefined, c: someMember(from, table) };
      const made: Row = { ...present, ...change };
      delete made.b;
      const replace = (one: Row) => {
        expect(one).toEqual(present);
        return made;
      };
      const how = from.next() < 0.5 ? replace : change;
      const expected = present && made;
      expect(await place.update(key, how)).toEqual(expected);
      if (expected !== undefined) model.put(expected);
      return;
    }
    case 4:
      await place.delete(key);
      model.delete(row);
      return;
    case 5: {
      const rows = Array.from({ length: from.below(4) }, () => someRow(from, table, model.rows[0]));
      const keys = rows.map((one) => keyOf(table, one));
      await place.deleteMany(from.next() < 0.5 ? keys : new Set(keys));
      for (const one of rows) model.delete(one);
      return;
    }
    case 6: {
      const query = someQuery(from, table, model.rows);
      const found = selected(table, query, model.rows);
      if (found === undefined) return;
      tally.deletes += 1;
      const isPart = from.next() < 0.4;
      let made = queryOf(from, place.all(), query);
      if (isPart) made = made.offset(1).limit(2);
      if (query.bounded?.bounds.startsWith === '') {
        // It selects no row, and a deletion by it is a mistake.
        await expect(made.delete()).rejects.toMatchObject(ofKind('invalid-argument'));
        return;
      }
      const gone = (isPart ? found.slice(1, 3) : found).map((one) => one.row);
      expect(rowsIn(await made.delete())).toBe(new Set(gone).size);
      for (const one of gone) model.delete(one);
      return;
    }
    case 7:
    case 8: {
      const rows = Array.from({ length: from.below(12) }, () =>
        someRow(from, table, model.rows[0]),
      );
      const { rows: count } = await place.putMany(sourceOf(from, table, rows));
      expect(count).toBe(rows.length);
      for (const one of rows) model.put(one);
      return;
    }
    case 9: {
      const other = someRow(from, table, model.rows[1]);
      const patch = [place.op.put(row), place.op.delete(keyOf(table, other))];
      await db?.applyPatch(patch);
      model.put(row);
      model.delete(other);
      return;
    }
    case 10:
      if (from.next() < 0.7) return;
      expect(rowsIn(await place.clear())).toBe(model.rows.length);
      model.rows = [];
  }
}

/** Returns rows as they are, so that JavaScript reads the rows of bytes. */
const asIs: StandardSchema<Row> = {
  '~standard': { version: 1, vendor: 'test', validate: (value) => ({ value: value as Row }) },
};

function definitionOf(from: Random, { keys, values, indexes, isPlain }: ModelTable) {
  const definition = {
    key: isPlain ? keys[0] : keys,
    values,
    indexes: Object.fromEntries(
      indexes.map(({ name, columns, nulls }) => [
        name,
        nulls && from.next() < 0.5 ? columns : { columns, nulls },
      ]),
    ),
    ...(from.next() < 0.3 && { schema: asIs }),
  };
  return (table as unknown as (definition: object) => never)(definition);
}

async function history(from: Random, seed: number, begin: BeginStep): Promise<void> {
  const modelTable = someTable(from);
  // The table does not see rows outside of its prefix.
  const others = table({ schema: rowType<{ id: string }>(), key: 'id', indexes: { all: ['id'] } });
  const rows = definitionOf(from, modelTable);
  const db = (await open(`t${seed}`, { storage: memory(), tables: { rows, others } })) as Store;
  const place = tableOf(db);
  const model = new Model(modelTable);
  await (db as unknown as { others: Loose }).others.put({ id: 'k' });
  await db.put('rows', { id: 'no row of a table' });
  await db.put('rows0', { id: 'no row of a table' });
  const check = async (on: Loose, of: Model) => {
    await checkAll(modelTable, on, of, from);
    for (let count = 3; count > 0; count--) await checkQuery(from, modelTable, on, of, begin);
  };
  for (let step = 0; step < STEPS; step++) {
    begin({ step, modelTable });
    switch (from.below(6)) {
      case 0: {
        // In a transaction, whose reads see its own edits; half of them are given up.
        const inner = model.copy();
        const isKept = from.next() < 0.6;
        const run = db.transaction(async (tx) => {
          inner.rows = [...model.rows];
          const own = tableOf(tx);
          for (let count = from.below(5); count > 0; count--)
            await edit(from, modelTable, own, inner, undefined);
          await check(own, inner);
          if (!isKept) throw new Error('given up');
        });
        if (isKept) await run;
        else await expect(run).rejects.toThrow('given up');
        if (isKept) model.rows = inner.rows;
        break;
      }
      case 1: {
        const draft = await db.branches.open('draft');
        const own = tableOf(draft);
        const inner = model.copy();
        for (let count = from.below(4); count > 0; count--)
          await edit(from, modelTable, own, inner, draft);
        await check(own, inner);
        await checkAll(modelTable, place, model, from);
        await db.branches.merge('draft');
        model.rows = inner.rows;
        await draft.close();
        await db.branches.delete('draft');
        break;
      }
      case 2: {
        using snapshot = db.snapshot();
        const before = model.copy();
        await edit(from, modelTable, place, model, db);
        await check(tableOf(snapshot), before);
        break;
      }
      default:
        await edit(from, modelTable, place, model, db);
    }
    await check(place, model);
  }
  expect(await db.get('rows0')).toEqual({ id: 'no row of a table' });
  expect(await (db as unknown as { others: Loose }).others.all().count()).toBe(1);
  await db.close();
}

it('random tables return the rows of a plain list', () =>
  forSeeds(SEEDS, history).then(() => {
    if (!hasAllSeeds(SEEDS)) return;
    for (const [what, count] of Object.entries(tally)) {
      if (what !== 'watches') expect(count, what).toBeGreaterThan(SEEDS / 2);
    }
  }));

it('a watch of a random query hears the changes that lead to its rows', () =>
  forSeeds(60, async (from, seed, begin) => {
    const modelTable = someTable(from);
    const rows = definitionOf(from, modelTable);
    const db = (await open(`w${seed}`, { storage: memory(), tables: { rows } })) as Store;
    const place = tableOf(db);
    const model = new Model(modelTable);
    for (let count = 5; count > 0; count--) await edit(from, modelTable, place, model, db);
    const query = someQuery(from, modelTable, model.rows);
    begin({ ...query, equal: [...query.equal], modelTable });
    if (selected(modelTable, query, model.rows) !== undefined) {
      tally.watches += 1;
      const told = new Map<string, Row>();
      let calls = 0;
      const stop = queryOf(from, place.all(), query).watch(
        (changes) => {
          calls += 1;
          for (const change of changes) {
            const name = JSON.stringify(change.key);
            expect([name, change.op, told.get(name)]).toEqual([
              name,
              told.has(name) ? (change.newValue ? 'update' : 'delete') : 'insert',
              change.oldValue,
            ]);
            if (change.newValue === undefined) told.delete(name);
            else told.set(name, change.newValue);
          }
        },
        { initial: true },
      );
      const wanted = () => {
        const found = new Set(selected(modelTable, query, model.rows)?.map(({ row }) => row));
        return new Map([...found].map((row) => [JSON.stringify(keyOf(modelTable, row)), row]));
      };
      await expect.poll(() => calls, SOON).toBeGreaterThan(0);
      for (let step = 0; step < 12; step++) {
        await expect.poll(() => told, SOON).toEqual(wanted());
        await edit(from, modelTable, place, model, db);
      }
      await expect.poll(() => told, SOON).toEqual(wanted());
      stop();
    }
    await db.close();
  }));

it('the model itself distinguishes values', () => {
  const table: ModelTable = { keys: ['id'], isPlain: true, values: 'structured', indexes: [] };
  expect(columnOf(table, new Date(0))).toBe('~t1970-01-01T00:00:00.000Z');
  expect(compareValues(null, false)).toBeLessThan(0);
  expect(compareValues('\uffff', '😀')).toBeLessThan(0);
  const query = { equal: new Map([['tags', null]]), order: [], reverse: false, scan: true };
  expect(fulfils(table, query, { id: '', tags: [] })).toBe(true);
  expect(fulfils(table, query, { id: '', tags: ['a', null] })).toBe(true);
  expect(fulfils(table, query, { id: '', tags: {} })).toBe(false);
});
