/** Values of a page that are no plain data: a store in a worker keeps or refuses the same as a store in the page. */
import { afterEach, describe, expect, it } from 'vitest';
import { reactive, readonly } from 'vue';
import { HedgerowError, memory, open, rowType, table } from '../../src/index.js';
import { connect } from '../../src/worker/index.js';
import { serve } from '../../src/worker/serve.js';
import { closeAll, opened, wire } from '../support/doubles/worker-wire.js';
import { kindOf } from '../support/error-kind.js';
import { revoked } from '../support/hostile-values.js';

afterEach(closeAll);

class Money {
  readonly #cents: number;
  readonly inner = 'of the class';
  constructor(cents: number) {
    this.#cents = cents;
  }
  toJSON(name: string) {
    return { cents: this.#cents, name };
  }
}
class Point {
  x = 1;
  y = { z: 2 };
  get sum() {
    return 3;
  }
}
const circular: Record<string, unknown> = {};
circular.self = circular;

/** Members of a row. */
const MEMBERS: Readonly<Record<string, () => unknown>> = {
  'a reactive object': () => reactive({ a: 1, deep: { list: [1, { b: 2 }] } }),
  'a reactive list': () => reactive([1, [2], { c: 3 }]),
  'a readonly object': () => readonly({ a: [1] }),
  'a proxy': () => new Proxy({ a: 1 }, {}),
  'a proxy of a list': () => new Proxy([1, 2], {}),
  'an object with toJSON': () => new Money(5),
  'objects with toJSON, deep': () => ({ a: [new Money(5), { b: new Money(6) }] }),
  'an own toJSON': () => ({ a: 1, toJSON: () => ({ own: true }) }),
  'a toJSON of text': () => ({ toJSON: () => 'text' }),
  'an address': () => new URL('https://example.org/x?y'),
  'an object of a class': () => new Point(),
  'an object of a class, with a proxy': () => Object.assign(new Point(), { p: reactive({ q: 1 }) }),
  'an object without a prototype': () => Object.assign(Object.create(null), { a: 1 }),
  'a member __proto__': () => JSON.parse('{"__proto__":{"a":1}}'),
  'a boxed text': () => new String('text'),
  'a revoked proxy': revoked,
  'a circular object': () => circular,
  'a symbol': () => Symbol('s'),
  'an invalid date': () => new Date(Number.NaN),
  'a Map': () => new Map([[1, reactive({ a: 1 })]]),
  'a Set': () => new Set([reactive({ a: 1 })]),
  'a getter that throws': () => ({
    get a() {
      throw new Error('of the app');
    },
  }),
};
/** The page refuses these in a structured table, as they are no plain objects; over a worker their JSON is kept. */
const LOOSER = /toJSON|class|address|boxed/;

const tables = {
  plain: table({ schema: rowType<Record<string, unknown>>(), key: 'id' } as never),
  structured: table({
    schema: rowType<Record<string, unknown>>(),
    key: 'id',
    values: 'structured',
  } as never),
};

// biome-ignore lint/suspicious/noExplicitAny: calls that TypeScript refuses
type Any = any;

async function handles() {
  const { page, host } = wire();
  const here = await open('here', { storage: memory(), tables: tables as never });
  const there = await open('there', { storage: memory(), tables: tables as never });
  const served = serve({ open: async () => there, port: host });
  opened.push(() => served.close());
  const remote = await connect(page);
  opened.push(() => remote.close());
  return { here: here as Any, remote: remote as Any };
}

const CALLS: Readonly<Record<string, (db: Any, value: () => unknown) => Promise<unknown>>> = {
  'put of a store': (db, value) => db.put('k', { value: value() }),
  'put of a whole value': (db, value) => db.put('k', value()),
  'put of a table': (db, value) => db.plain.put({ id: 'k', value: value() }),
  'put of a structured table': (db, value) => db.structured.put({ id: 'k', value: value() }),
  insert: (db, value) => db.plain.insert({ id: 'k', value: value() }),
  async update(db, value) {
    await db.plain.put({ id: 'k' });
    await db.plain.update('k', { value: value() });
  },
  'putMany of an array': (db, value) => db.plain.putMany([{ id: 'k', value: value() }]),
  'putMany of a reactive array': (db, value) =>
    db.plain.putMany(reactive([{ id: 'k', value: value() }])),
  'putMany of a structured table': (db, value) =>
    db.structured.putMany([{ id: 'k', value: value() }]),
  'putMany of entries, lazily': (db, value) =>
    db.putMany(
      (function* () {
        yield ['j', 1];
        yield ['k', { value: value() }];
      })(),
    ),
  'put of a transaction': (db, value) =>
    db.transaction((tx: Any) => {
      tx.put('k', { value: value() });
    }),
};

/** Returns all rows, or how the call was refused. */
async function outcome(db: Any, call: () => Promise<unknown>): Promise<unknown> {
  await db.clear();
  try {
    await call();
  } catch (error) {
    // Errors of the app pass where its code reads in the page.
    return error instanceof HedgerowError ? kindOf(error) : 'an error of the app';
  }
  const rows: unknown[] = await db.scan().toArray();
  return JSON.stringify(rows);
}

describe.each(Object.entries(CALLS))('%s', (call, run) => {
  it.each(Object.entries(MEMBERS))('keeps %s as in a page', async (kind, make) => {
    const { here, remote } = await handles();
    const [inPage, byWorker] = [
      await outcome(here, () => run(here, make)),
      await outcome(remote, () => run(remote, make)),
    ];
    if (/structured/.test(call) && LOOSER.test(kind) && inPage === 'invalid-argument/value') {
      expect(['invalid-argument/value', expect.any(String)]).toContainEqual(byWorker);
      return;
    }
    // JSON leaves it out, which a structured table must not.
    expect(byWorker).toEqual(kind === 'a symbol' ? 'invalid-argument/value' : inPage);
  });
});

describe('conditions and keys', () => {
  it('may be proxies', async () => {
    const { remote } = await handles();
    await remote.plain.putMany([
      { id: 'a', n: 1 },
      { id: 'b', n: 2 },
    ]);
    expect(await remote.plain.where(reactive({ id: 'a' })).toArray()).toEqual([{ id: 'a', n: 1 }]);
    expect(await remote.plain.getMany(reactive(['b']))).toEqual([{ id: 'b', n: 2 }]);
    expect(await remote.scan(reactive({ gte: 'plain' })).toArray()).toHaveLength(2);
  });
});
