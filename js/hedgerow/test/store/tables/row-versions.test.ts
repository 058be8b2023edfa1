/** A row that states its version by `~v` means the same on each way into a table, and makes no list fail. */
import { describe, expect, it } from 'vitest';
import { type HedgerowError, memory, open, rowType, table } from '../../../src/index.js';
import { ofKind } from '../../support/error-kind.js';
import { closing } from '../../support/migration-tables.js';

interface Row {
  id: string;
  n: number;
  name?: string;
}

const migrate = ({ title, ...row }: Row & { title?: string }, from: number): Row => ({
  ...row,
  name: `${title ?? row.name} of ${from}`,
});
const schema = {
  '~standard': {
    version: 1 as const,
    vendor: 'test',
    // As strict schemas do, it refuses unknown members.
    validate: (value: unknown) =>
      Object.keys(value as object).some((name) => !/^(id|n|name)$/.test(name))
        ? { issues: [{ message: 'an unknown member' }] }
        : { value: value as Row },
  },
};
const TABLES = {
  'version 1': [1, table({ schema: rowType<Row>(), key: 'id', indexes: { byN: ['n'] } })],
  'version 1, structured': [
    1,
    table({ schema: rowType<Row>(), key: 'id', values: 'structured', indexes: { byN: ['n'] } }),
  ],
  'version 2': [
    2,
    table({ schema: rowType<Row>(), key: 'id', indexes: { byN: ['n'] }, version: 2, migrate }),
  ],
  'version 2, structured': [
    2,
    table({
      schema: rowType<Row>(),
      key: 'id',
      values: 'structured',
      indexes: { byN: ['n'] },
      version: 2,
      migrate,
    }),
  ],
  'version 2, with a schema': [
    2,
    table({ schema, key: 'id', indexes: { byN: ['n'] }, version: 2, migrate }),
  ],
} as const;

const opened = async (name: keyof typeof TABLES) =>
  closing(
    await open(`versions ${name}`, {
      storage: memory(),
      tables: { t: TABLES[name][1] as (typeof TABLES)['version 1'][1] },
    }),
  );
type Db = Awaited<ReturnType<typeof opened>>;

const WAYS: Record<string, (db: Db, row: Row) => unknown> = {
  put: (db, row) => db.t.put(row),
  insert: (db, row) => db.t.insert(row),
  'a patch': async (db, row) => db.applyPatch([db.t.op.put(row)]),
  'putMany of objects': (db, row) => db.t.putMany([{ id: 'other', n: 1 }, row]),
  'putMany of objects that come later': (db, row) =>
    db.t.putMany(
      (async function* () {
        yield { id: 'other', n: 1 };
        yield row;
      })(),
    ),
  'put in a transaction': (db, row) => db.transaction(async (tx) => tx.t.put(row)),
  'insert in a transaction': (db, row) => db.transaction((tx) => tx.t.insert(row)),
  'a function of update': async (db, row) => {
    await db.t.put({ id: row.id, n: 0 });
    return db.t.update(row.id, () => row);
  },
};
const BYTES: typeof WAYS = {
  'putMany of NDJSON': (db, row) =>
    db.t.putMany(new Blob([`{"id":"other","n":1}\n${JSON.stringify(row)}`])),
  'putMany of a JSON array': (db, row) => db.t.putMany(new Response(JSON.stringify([row]))),
};

describe.each(Object.keys(TABLES) as (keyof typeof TABLES)[])('a table of %s', (name) => {
  const [version] = TABLES[name];
  const ways = Object.entries({ ...WAYS, ...BYTES });

  it.each(ways)('takes rows with or without its version, by %s', async (_, way) => {
    for (const told of [{}, { '~v': version }]) {
      const db = await opened(name);
      await way(db, { id: 'a', n: 7, name: 'A', ...told } as Row);
      expect(await db.t.get('a')).toEqual({ id: 'a', n: 7, name: 'A' });
      expect(await db.t.where({ n: 7 }).toArray()).toEqual([{ id: 'a', n: 7, name: 'A' }]);
      await db.close();
    }
  });

  it.each(version > 1 ? ways : [])(
    'brings rows of a lower version forward, by %s',
    async (_, way) => {
      const db = await opened(name);
      await way(db, { id: 'a', n: 7, title: 'A', '~v': 1 } as never);
      expect(await db.get('t/a')).toMatchObject({ name: 'A of 1', '~v': 2 });
      expect(await db.t.where({ n: 7 }).toArray()).toEqual([{ id: 'a', n: 7, name: 'A of 1' }]);
    },
  );

  it.each(ways)(
    'refuses a row of a newer version, and stores no other of its call, by %s',
    async (way, run) => {
      const db = await opened(name);
      const newer = { id: 'a', n: 7, '~v': version + 1 } as Row;
      const error = await Promise.resolve()
        .then(() => run(db, newer))
        .then(
          () => expect.fail('it was taken'),
          (cause: HedgerowError) => cause,
        );
      expect(error).toMatchObject({ code: 'newer-version', detail: 'schema', table: 't' });
      // For bytes that go to the core as they are, errors name no row.
      if (name !== 'version 1' || !(way in BYTES)) {
        expect(error.key).toBe('a');
        expect(error.message).toMatch(/^t "a": /);
        if (way.startsWith('putMany')) expect(error.row).toBe(way.endsWith('array') ? 0 : 1);
      }
      expect(await db.t.where({ n: 7 }).count()).toBe(0);
      expect((await db.t.toArray()).length).toBe(way.startsWith('a function') ? 1 : 0);
    },
  );

  it('refuses invalid versions', async () => {
    const db = await opened(name);
    for (const told of ['2', 0, 1.5, null]) {
      await expect(db.t.put({ id: 'a', n: 1, '~v': told } as never)).rejects.toMatchObject({
        ...{ code: 'invalid-argument', detail: 'value', table: 't', key: 'a', pointer: '/~0v' },
      });
    }
    expect(await db.t.count()).toBe(0);
  });

  it('takes changes of its version alone', async () => {
    const db = await opened(name);
    await db.t.put({ id: 'a', n: 1 });
    expect(await db.t.update('a', { n: 2, '~v': version } as never)).toEqual({ id: 'a', n: 2 });
    for (const [told, code] of [
      [version + 1, 'newer-version/schema'],
      ...(version > 1 ? [[1, 'invalid-argument/value']] : []),
    ]) {
      await expect(db.t.update('a', { n: 3, '~v': told } as never)).rejects.toMatchObject({
        ...{ ...ofKind(code as string), table: 't', key: 'a' },
      });
    }
    expect(await db.t.toArray()).toEqual([{ id: 'a', n: 2 }]);
  });
});

describe('bytes that go to the core as they are', () => {
  const text = '{"id":"a","n":1}\n{"id":"b","n":2,"~v" : 12 }\n{"id":"c","n":3}';
  const cut = (size: number) => {
    const bytes = new TextEncoder().encode(text);
    const count = Math.ceil(bytes.length / size);
    return Array.from({ length: count }, (_, at) => bytes.subarray(at * size, (at + 1) * size));
  };

  it('are refused wherever they are cut, if they state a newer version', async () => {
    const db = await opened('version 1');
    for (let size = 1; size <= text.length; size++) {
      const parts = cut(size);
      for (const source of [parts, new Blob(parts).stream()]) {
        await expect(db.t.putMany(source), `in parts of ${size}`).rejects.toMatchObject({
          ...{ code: 'newer-version', detail: 'schema', table: 't' },
        });
      }
    }
    expect(await db.t.count()).toBe(0);
  });

  it('may have the sign in texts, and state version 1', async () => {
    const db = await opened('version 1');
    const rows = [
      { id: 'a', n: 1, name: '~v": 2, "~v": 2' },
      { id: 'b', n: 2, name: '~' },
      { id: '~v', n: 3, '~v': 1 },
    ];
    await db.t.putMany(new Blob([rows.map((row) => JSON.stringify(row)).join('\n')]));
    const [a, b] = rows;
    expect(await db.t.toArray()).toEqual([a, b, { id: '~v', n: 3 }]);
  });
});
