/** A transaction rejects when its function does not await a call: no call is lost silently. */
import { afterEach, describe, expect, it } from 'vitest';
import { Transaction } from '../../../src/engine/transaction/transaction.js';
import { memory, open, rowType, table } from '../../../src/index.js';
import { TxTable } from '../../../src/store/tables/tx-table.js';
import { mutators } from '../../../src/sync/mutators/index.js';
import { connect } from '../../../src/worker/index.js';
import { serve } from '../../../src/worker/serve.js';
import { json, ServerDouble } from '../../support/doubles/mutators-server.js';
import { closeAll, opened, wire } from '../../support/doubles/worker-wire.js';
import { failure } from '../../support/models/store-model.js';

interface Issue {
  id: string;
  status: string;
  n: number;
}
const issues = table({
  schema: rowType<Issue>(),
  key: 'id',
  indexes: { byStatus: ['status', 'n'] },
});
const tables = { issues };
const indexes = { byN: { prefix: 'row/', path: ['/n'] } };

afterEach(closeAll);

const idOf = (n: number) => `i${String(n).padStart(5, '0')}`;
const rows = () =>
  Array.from({ length: 3000 }, (_, n) => ({ id: idOf(n), status: n % 2 ? 'open' : 'done', n }));

let names = 0;
/** Returns a store with rows; a cold store has an empty cache. */
async function storeOf(isCold: boolean) {
  const storage = memory();
  const name = `awaits ${names++}`;
  const how = { storage, tables, indexes };
  const first = await open(name, how);
  await first.issues.putMany(rows());
  await first.putMany(rows().map((row) => [`row/${row.id}`, row] as const));
  if (!isCold) {
    // All of it is read once.
    for await (const _ of first.scan()) {
    }
    opened.push(() => first.close());
    return first;
  }
  await first.close();
  const db = await open(name, { ...how, advanced: { cacheBytes: 0 } });
  opened.push(() => db.close());
  return db;
}

type Db = Awaited<ReturnType<typeof storeOf>>;
type Tx = Parameters<Parameters<Db['transaction']>[0]>[0];

/** Reads and edits that return promises, by their names in errors. */
const CALLS: Record<string, (tx: Tx) => Promise<unknown>> = {
  'tx.get': (tx) => tx.get('row/i00001'),
  'tx.getMany': (tx) => tx.getMany(['row/i00001', 'row/i02000']),
  'tx.has': (tx) => tx.has('row/i00001'),
  'tx.count': (tx) => tx.count({ prefix: 'row/' }),
  'tx.at': (tx) => tx.at(7, { prefix: 'row/' }),
  'tx.rank': (tx) => tx.rank('row/i00001'),
  'tx.deleteMany': (tx) => tx.deleteMany({ prefix: 'row/i000' }),
  'tx.scan.toArray': (tx) => tx.scan({ prefix: 'row/i0000' }).toArray(),
  'tx.scan.first': (tx) =>
    tx
      .scan({ index: 'byN', gte: [5] })
      .keys()
      .first(),
  'tx.issues.get': (tx) => tx.issues.get('i00001'),
  'tx.issues.getMany': (tx) => tx.issues.getMany(['i00001', 'i02000']),
  'tx.issues.has': (tx) => tx.issues.has('i00001'),
  'tx.issues.rank': (tx) => tx.issues.rank('i00001'),
  'tx.issues.insert': (tx) => tx.issues.insert({ id: 'new', status: 'new', n: -1 }),
  'tx.issues.update': (tx) => tx.issues.update('i00777', { status: 'closed' }),
  'tx.issues.deleteMany': (tx) => tx.issues.deleteMany({ status: 'open' }),
  'tx.issues.toArray': (tx) => tx.issues.where({ status: 'open' }).limit(3).toArray(),
  'tx.issues.first': (tx) => tx.issues.orderBy(['status', 'n']).first(),
  'tx.issues.at': (tx) => tx.issues.at(4),
  'tx.issues.count': (tx) => tx.issues.where({ status: 'open' }).count(),
  'tx.issues.delete': (tx) => tx.issues.where({ status: 'open' }).delete(),
};
const SYNCHRONOUS = ['put', 'delete', 'scan'];
const NARROWING = ['where', 'between', 'orderBy', 'all'];

const entries = Object.entries(CALLS);
const unawaited = (name: string) => ({
  code: 'closed',
  message: expect.stringContaining(`${name} was not awaited`),
});

it('the list has all calls that return promises', () => {
  const listed = (self: string) =>
    entries
      .map(([name]) => name.split('.'))
      .flatMap(([tx, ...rest]) =>
        rest.length > 1 === (self === 'table') && tx ? [rest.at(-1)] : [],
      );
  const own = (type: { prototype: object }) =>
    Object.getOwnPropertyNames(type.prototype).filter((name) => name !== 'constructor');
  const ofTransactions = own(Transaction).filter((name) => !SYNCHRONOUS.includes(name));
  expect(listed('tx')).toEqual(expect.arrayContaining(ofTransactions));
  const parent = Object.getPrototypeOf(TxTable);
  const ofTables = [...own(TxTable), ...own(parent)]
    .filter(
      (name) =>
        ![...SYNCHRONOUS, ...NARROWING, '__v_skip', 'keyOf', 'keysOf', 'selected'].includes(name),
    )
    .filter((name) => !Object.getOwnPropertyDescriptor(parent.prototype, name)?.get);
  expect(listed('table')).toEqual(expect.arrayContaining(ofTables));
});

describe.each([
  ['warm', false],
  ['cold', true],
])('in a %s store', (_, isCold) => {
  it('a transaction rejects by the name of a call that is not awaited, before it commits', async () => {
    const db = await storeOf(isCold);
    const { root } = db;
    for (const [name, call] of entries) {
      const forget = (tx: Tx) => {
        tx.put('beside', 1);
        call(tx).catch(() => {});
      };
      await expect(db.transaction(forget), name).rejects.toMatchObject(unawaited(name));
      const later = async (tx: Tx) => {
        await tx.has('row/i00005');
        forget(tx);
      };
      await expect(db.transaction(later), name).rejects.toMatchObject(unawaited(name));
      expect(db.root, name).toBe(root);
    }
  });

  it('a transaction rejects after an iteration that continues, or was left without an end', async () => {
    const db = await storeOf(isCold);
    const { root } = db;
    const iterations: [string, (tx: Tx) => AsyncIterable<unknown>][] = [
      ['tx.scan', (tx) => tx.scan({ prefix: 'row/' })],
      ['tx.scan', (tx) => tx.scan({ prefix: 'row/' }).keys()],
      ['tx.scan', (tx) => tx.scan({ index: 'byN' }).values()],
      ['tx.issues', (tx) => tx.issues.where({ status: 'open' })],
      ['tx.issues', (tx) => tx.issues],
    ];
    for (const [name, rowsIn] of iterations) {
      const goesOn = (tx: Tx) => {
        const all = async () => {
          for await (const _ of rowsIn(tx)) tx.put('seen', 1);
        };
        all().catch(() => {});
      };
      await expect(db.transaction(goesOn), name).rejects.toMatchObject(unawaited(name));
      const leaves = async (tx: Tx) => {
        await rowsIn(tx)[Symbol.asyncIterator]().next();
      };
      await expect(db.transaction(leaves), name).rejects.toMatchObject(unawaited(name));
    }
    expect(db.root).toBe(root);
  });

  it('a transaction rejects for a loop of functions without an await', async () => {
    const db = await storeOf(isCold);
    const { root } = db;
    const keys = rows().map(({ id }) => `row/${id}`);
    const late: unknown[] = [];
    const loop = (tx: Tx) =>
      keys.forEach((key) => {
        const change = async () => {
          const row = await tx.get<Issue>(key);
          tx.put(key, { ...row, n: -1 });
        };
        change().catch((cause: unknown) => late.push(cause));
      });
    await expect(db.transaction(loop)).rejects.toMatchObject(unawaited('tx.get'));
    await expect(db.transaction(async (tx) => loop(tx))).rejects.toMatchObject(unawaited('tx.get'));
    expect(db.root).toBe(root);
    await expect.poll(() => late.length).toBe(2 * keys.length);
  });

  it('a transaction rejects for code that continues after its end, whatever the code awaits', async () => {
    const db = await storeOf(isCold);
    const { root } = db;
    // The call has ended, and the code after it has not run yet.
    for (let turns = 0; turns < 6; turns++) {
      const late = async (tx: Tx) => {
        const row = tx.get('row/i00001');
        const change = async () => {
          await row;
          for (let turn = 0; turn < turns; turn++) await null;
          tx.put('late', turns);
        };
        change().catch(() => {});
        await row;
      };
      await db.transaction(late).then(
        async () => expect(await db.get('late')).toBe(turns),
        async (cause) => {
          expect(cause).toMatchObject(failure('closed'));
          expect(await db.get('late')).not.toBe(turns);
        },
      );
    }
    await db.delete('late');
    expect(db.root).toBe(root);
  });

  it('a transaction commits with calls that are awaited in any way', async () => {
    const db = await storeOf(isCold);
    await db.transaction((tx) => tx.get('row/i00001'));
    await db.transaction(async (tx) => tx.get('row/i00001'));
    await db.transaction((tx) => Promise.all(keysOf(tx).map((key) => tx.get(key))));
    await db.transaction((tx) => tx.get('row/i00001').then(() => tx.put('then', 1)));
    await db.transaction(async (tx) => {
      const first = tx.get('row/i00001');
      const second = tx.get('row/i00002');
      await second;
      await first;
    });
    await db.transaction(async (tx) => {
      for await (const [key] of tx.scan({ prefix: 'row/' })) if (key > 'row/i00100') break;
      for await (const row of tx.issues) if (row.n > 3) return;
    });
    const refused = db.transaction(async (tx) => {
      await expect(tx.issues.insert({ id: 'i00001', status: '', n: 0 })).rejects.toMatchObject(
        failure('exists'),
      );
      await tx.get('row/i00001').finally(() => {});
    });
    await expect(refused).resolves.toBeUndefined();
    for (const [, call] of entries) await db.transaction(call);
    expect(await db.issues.has('new')).toBe(true);
  });

  it('a transaction rejects with the error of its function first', async () => {
    const db = await storeOf(isCold);
    const mine = new Error('mine');
    const failing = db.transaction((tx) => {
      tx.get('row/i00001').catch(() => {});
      throw mine;
    });
    await expect(failing).rejects.toBe(mine);
  });
});

const keysOf = (_: Tx) => Array.from({ length: 50 }, (_, n) => `row/${idOf(n * 7)}`);

it('a mutator is refused in the same way, and other changes of its commit are kept', async () => {
  const db = await storeOf(true);
  const server = new ServerDouble({});
  const empty = await open(`awaits ${names++}`, { storage: memory(), tables });
  opened.push(() => empty.close());
  await db.close();
  const app = await empty.connect(
    mutators({
      mutators: {
        forgets(tx) {
          tx.put('lost', 1);
          tx.has('x').catch(() => {});
        },
        async puts(tx, key: string) {
          tx.put(key, await tx.has(key));
        },
      },
      pull: (request) => json(server.pull(request)),
      push: (request) => json(server.push(request)),
    }),
  );
  const results = await Promise.allSettled([
    app.mutate.puts('a'),
    app.mutate.forgets(),
    app.mutate.puts('b'),
  ]);
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(results[1]).toMatchObject({ reason: unawaited('tx.has') });
  expect(await empty.scan().keys().toArray()).toEqual(['a', 'b']);
  expect(app.calls().map(({ name }) => name)).toEqual(['puts', 'puts']);
});

it.each([
  ['warm', false],
  ['cold', true],
])('a page whose store is in a worker is refused in the same way: %s', async (_, isCold) => {
  const { page, host } = wire();
  const db = await storeOf(isCold);
  const served = serve({ open: async () => db, port: host });
  opened.push(() => served.close());
  const remote = await connect<typeof tables>(page);
  opened.push(() => remote.close());
  const root = await remote.root;
  for (const [name, call] of entries) {
    const forget = (tx: unknown) => {
      (tx as Tx).put('beside', 1);
      call(tx as Tx).catch(() => {});
    };
    await expect(remote.transaction(forget), name).rejects.toMatchObject(unawaited(name));
    await expect(
      remote.transaction((tx) => call(tx as unknown as Tx).then(() => Promise.reject('undo'))),
      name,
    ).rejects.toBe('undo');
  }
  const goesOn = remote.transaction((tx) => {
    const all = async () => {
      for await (const _ of tx.issues) tx.put('seen', 1);
    };
    all().catch(() => {});
  });
  await expect(goesOn).rejects.toMatchObject(unawaited('tx.issues'));
  const change = remote.transaction((tx) => {
    tx.issues.update('i00001', (row) => ({ ...row, n: -1 })).catch(() => {});
  });
  await expect(change).rejects.toMatchObject(unawaited('tx.issues.update'));
  expect(await remote.root).toBe(root);
});
