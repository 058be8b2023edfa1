/** Random requests for rows, compared with all rows filtered and sorted by TanStack DB itself. */
import {
  compileSingleRowExpression,
  IR,
  type LoadSubsetOptions,
  makeComparator,
} from '@tanstack/db';
import { expect, test } from 'vitest';
import { memory, open, rowType, table } from '../../hedgerow/src/index.js';
import { forSeeds } from '../../hedgerow/test/support/property.js';
import type { Random } from '../../hedgerow/test/support/random.js';
import { rest, until } from '../../hedgerow/test/support/watching.js';
import { hedgerowCollectionOptions, hedgerowPersistence } from '../src/index.js';

interface Item {
  id: string;
  kind?: string | null;
  n?: number | null;
  at?: Date | null;
  text: string;
  flag: boolean;
  big?: bigint;
}

const items = table({
  schema: rowType<Item>(),
  key: 'id',
  values: 'structured',
  indexes: {
    byKind: ['kind', 'n'],
    byN: ['n'],
    byAt: ['at'],
    byText: { columns: ['text', 'n'], nulls: false },
    byFlag: ['flag', 'at'],
  },
});

// Characters on both sides of the surrogates, which an index and JavaScript sort differently.
const TEXTS = [
  '',
  'a',
  'A',
  'b',
  'ä',
  '~',
  '~~z',
  '\ufb01',
  '\u{1f600}',
  'a\u{1f600}',
  'a\ue000',
  '\0',
];

function item(from: Random, id = `i${from.below(60)}`): Item {
  const made: Item = { id, text: from.pick(TEXTS), flag: from.next() < 0.5 };
  if (from.next() < 0.8) made.kind = from.pick(['x', 'y', 'z', null]);
  if (from.next() < 0.8) made.n = from.pick([null, -1, 0, 1.5, 2, 3, 4, 5]);
  if (from.next() < 0.8) made.at = from.next() < 0.2 ? null : date(from);
  if (from.next() < 0.2) made.big = BigInt(from.below(3));
  return made;
}

const date = (from: Random) => new Date(Date.UTC(2026, 0, 1 + from.below(6)));

const ref = (name: string) => new IR.PropRef([name]);
const func = (name: string, ...args: IR.BasicExpression[]) => new IR.Func(name, args);
type Test = IR.BasicExpression<boolean>;

function value(from: Random, name: string): unknown {
  if (from.next() < 0.1) return from.pick([null, undefined]);
  if (name === 'kind') return from.pick(['x', 'y', 'w']);
  if (name === 'n') return from.pick([-2, 0, 1, 1.5, 3, 6]);
  if (name === 'at') return date(from);
  if (name === 'flag') return from.next() < 0.5;
  if (name === 'big') return BigInt(from.below(3));
  if (name === 'id') return `i${from.below(60)}`;
  return from.pick(TEXTS);
}

const NAMES = ['id', 'kind', 'n', 'at', 'text', 'flag', 'big'];

function condition(from: Random, depth = 2): Test {
  const kind = from.next();
  if (depth > 0 && kind < 0.35) {
    const all = Array.from({ length: 1 + from.below(3) }, () => condition(from, depth - 1));
    return func(from.pick(['and', 'and', 'or']), ...all) as Test;
  }
  if (depth > 0 && kind < 0.4) return func('not', condition(from, depth - 1)) as Test;
  const name = from.pick(NAMES);
  if (kind < 0.5) return func(from.pick(['isNull', 'isUndefined']), ref(name)) as Test;
  if (kind < 0.6) {
    const list = Array.from({ length: from.below(4) }, () => value(from, name));
    return func('in', ref(name), new IR.Value(list)) as Test;
  }
  const operator = from.pick(['eq', 'eq', 'gt', 'gte', 'lt', 'lte']);
  const sides = [ref(name), new IR.Value(value(from, name))];
  return func(operator, ...(from.next() < 0.1 ? sides.reverse() : sides)) as Test;
}

function order(from: Random): IR.OrderBy {
  const names = from.shuffle(NAMES).slice(0, 1 + from.below(2));
  return names.map((name) => ({
    expression: ref(name),
    compareOptions: {
      direction: from.pick(['asc', 'desc'] as const),
      nulls: from.pick(['first', 'last'] as const),
      ...(from.next() < 0.8
        ? { stringSort: 'lexical' as const }
        : { stringSort: 'locale' as const }),
    },
  }));
}

/** Makes a cursor as TanStack DB does: for the rows behind a value of the first column. */
function cursor(from: Random, orderBy: IR.OrderBy): LoadSubsetOptions['cursor'] {
  const [{ expression, compareOptions }] = orderBy as [IR.OrderBy[0]];
  const name = (expression as IR.PropRef).path[0] as string;
  const at = value(from, name);
  if (at == null) return undefined;
  const behind = func(
    compareOptions.direction === 'asc' ? 'gt' : 'lt',
    ref(name),
    new IR.Value(at),
  );
  const nulls = func('or', func('isNull', ref(name)), func('isUndefined', ref(name)));
  const whereFrom = compareOptions.nulls === 'first' ? behind : func('or', behind, nulls);
  return {
    whereFrom: whereFrom as Test,
    whereCurrent: func('eq', ref(name), new IR.Value(at)) as Test,
  };
}

function request(from: Random): LoadSubsetOptions {
  const options: LoadSubsetOptions = {};
  if (from.next() < 0.8) options.where = condition(from);
  if (from.next() < 0.7) options.orderBy = order(from);
  if (options.orderBy !== undefined && from.next() < 0.8) {
    options.limit = from.below(12);
    if (from.next() < 0.3) options.offset = from.below(5);
    else if (from.next() < 0.4) {
      const made = cursor(from, options.orderBy);
      if (made !== undefined) options.cursor = made;
    }
  }
  return options;
}

const passes = (where: Test | undefined, row: Item) =>
  where === undefined ||
  compileSingleRowExpression(where)(row as unknown as Record<string, unknown>) === true;

type Clause = IR.OrderBy[0];
const memberOf = ({ expression }: Clause, row: Item) =>
  compileSingleRowExpression(expression as IR.BasicExpression)(
    row as unknown as Record<string, unknown>,
  );
const compared = (clause: Clause, a: Item, b: Item) =>
  makeComparator(clause.compareOptions as never)(memberOf(clause, a), memberOf(clause, b));

function sortedBy(orderBy: IR.OrderBy, rows: readonly Item[]): Item[] {
  return [...rows].sort((a, b) => {
    for (const clause of orderBy) {
      const order = compared(clause, a, b);
      if (order !== 0) return order;
    }
    return a.id < b.id ? -1 : 1;
  });
}

/** Returns the rows of a collection for a request that was answered as of `before`, when the rows are `now`. */
function wanted(options: LoadSubsetOptions, before: readonly Item[], now: readonly Item[]): Item[] {
  const { where, orderBy = [], limit, offset = 0, cursor: at } = options;
  const parts =
    at === undefined
      ? [{ more: undefined, most: limit === undefined ? Infinity : limit + offset }]
      : [
          { more: at.whereCurrent, most: Infinity },
          { more: at.whereFrom, most: limit ?? Infinity },
        ];
  const found = new Set<Item>();
  for (const { more, most } of parts) {
    if (most === 0) continue;
    const all = sortedBy(
      orderBy.slice(0, 1),
      before.filter((row) => passes(where, row) && passes(more, row)),
    );
    const [clause] = orderBy;
    const last = all[most - 1];
    const isCut = clause && last && all.some((row) => compared(clause, row, last) > 0);
    for (const row of now) {
      if (!passes(where, row) || !passes(more, row)) continue;
      if (!isCut || compared(clause, row, last) <= 0) found.add(row);
    }
  }
  return [...found];
}

const byId = (rows: readonly Item[]) => [...rows].sort((a, b) => (a.id < b.id ? -1 : 1));

test('a collection on demand has the rows of its requests, whatever changes', async () => {
  await forSeeds(30, async (from, seed, begin) => {
    const storage = { ...memory(), isShared: true };
    const opening = () => open(`random-${seed}`, { storage, tables: { items } });
    const [db, other] = await Promise.all([opening(), opening()]);
    await other.items.putMany(Array.from({ length: 40 }, (_, at) => item(from, `i${at}`)));
    // A map of its writes is the model of the collection.
    const rows = new Map<unknown, Item>();
    let isOpen = false;
    const { sync } = hedgerowCollectionOptions({ table: db.items, syncMode: 'on-demand' });
    let isReady = false;
    const running = sync.sync({
      collection: {},
      begin: () => {
        expect(isOpen).toBe(false);
        isOpen = true;
      },
      write: (told: { type: string; key?: unknown; value?: Item }) => {
        const key = told.type === 'delete' ? told.key : told.value?.id;
        expect(rows.has(key), `${told.type} ${key}`).toBe(told.type !== 'insert');
        if (told.type === 'delete') rows.delete(key);
        else rows.set(key, told.value as Item);
      },
      commit: () => {
        isOpen = false;
        return true;
      },
      markReady: () => (isReady = true),
      markError: (cause: unknown) => expect.unreachable(String(cause)),
    } as never) as {
      loadSubset(options: LoadSubsetOptions): Promise<void>;
      unloadSubset(options: LoadSubsetOptions): void;
      cleanup(): void;
    };
    await until(() => isReady);
    const loaded: { options: LoadSubsetOptions; before: Item[] }[] = [];
    for (let step = 0; step < 12; step++) {
      const kind = from.next();
      if (kind < 0.45) {
        const options = request(from);
        begin(JSON.stringify(options, (_, one) => (typeof one === 'bigint' ? `${one}n` : one)));
        const loading = running.loadSubset(options);
        // Sometimes the request meets a change.
        if (from.next() < 0.3) await db.items.put(item(from));
        await loading;
        // The same request at a known commit shows where its rows end.
        await until(() => db.root === other.root);
        running.unloadSubset(options);
        await running.loadSubset(options);
        loaded.push({ options, before: await db.items.toArray() });
      } else if (kind < 0.6 && loaded.length > 0) {
        begin('unload');
        const [gone] = loaded.splice(from.below(loaded.length), 1);
        running.unloadSubset(gone?.options as LoadSubsetOptions);
      } else if (kind < 0.9) {
        begin('writes');
        const by = from.pick([db, other]);
        await by.items.putMany(Array.from({ length: 1 + from.below(4) }, () => item(from)));
        if (from.next() < 0.5) await by.items.delete(`i${from.below(60)}`);
      } else await rest(2);
      const expected = async () => {
        const now = await other.items.toArray();
        const all = new Set(loaded.flatMap(({ options, before }) => wanted(options, before, now)));
        return byId([...all]);
      };
      const shown = () => byId([...rows.values()]);
      const is = await expected();
      await until(() => {
        try {
          expect(shown()).toEqual(is);
          return true;
        } catch {
          return false;
        }
      }).catch(() => {});
      expect(shown()).toEqual(is);
    }
    running.cleanup();
    await Promise.all([db.close(), other.close()]);
  });
});

test('persistence answers requests as TanStack DB would', async () => {
  await forSeeds(30, async (from, seed, begin) => {
    const db = await open(`persisted-${seed}`, { storage: memory() });
    const { adapter } = hedgerowPersistence(db);
    const model = new Map<string, Item>();
    const signatures: string[] = [];
    for (let step = 0; step < 14; step++) {
      const kind = from.next();
      if (kind < 0.3 || step === 0) {
        begin('writes');
        const made = Array.from({ length: step === 0 ? 40 : 1 + from.below(5) }, (_, at) =>
          step === 0 ? item(from, `i${at}`) : item(from),
        );
        const puts = [...new Map(made.map((one) => [one.id, one])).values()];
        const gone = [...model.keys()].filter(
          (id) => from.next() < 0.05 && !puts.some((one) => one.id === id),
        );
        await adapter.applyCommittedTx('items', {
          txId: `tx-${step}`,
          term: 1,
          seq: step + 1,
          rowVersion: step + 1,
          mutations: [
            ...puts.map((one) => ({ type: 'insert' as const, key: one.id, value: { ...one } })),
            ...gone.map((id) => ({ type: 'delete' as const, key: id, value: {} })),
          ],
        });
        for (const one of puts) model.set(one.id, one);
        for (const id of gone) model.delete(id);
      } else if (kind < 0.4) {
        const name = from.pick(NAMES);
        begin(`index ${name}`);
        const expressionSql = [JSON.stringify({ type: 'ref', path: [name] })];
        await adapter.ensureIndex('items', name, { expressionSql });
        signatures.push(name);
      } else if (kind < 0.45 && signatures.length > 0) {
        begin('index removed');
        await adapter.markIndexRemoved('items', from.pick(signatures));
      } else {
        const options = request(from);
        begin(JSON.stringify(options, (_, one) => (typeof one === 'bigint' ? `${one}n` : one)));
        const { where, orderBy = [], limit = Infinity, offset = 0, cursor: at } = options;
        const all = [...model.values()].filter((row) => passes(where, row));
        const parts = at && [
          ...all.filter((row) => passes(at.whereCurrent, row)),
          ...sortedBy(
            orderBy,
            all.filter((row) => passes(at.whereFrom, row)),
          ).slice(0, limit),
        ];
        const expected = parts
          ? sortedBy(orderBy, [...new Set(parts)])
          : sortedBy(orderBy, all).slice(offset, offset + limit);
        const found = await adapter.loadSubset('items', options);
        expect(found.map(({ value }) => value)).toEqual(expected);
      }
    }
    await db.close();
  });
});
