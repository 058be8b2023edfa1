/**
 * A row that a table cannot read is named by table and key, and holds back no other, neither in a watch nor in a list.
 */
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  type HedgerowError,
  memory,
  open,
  rowType,
  type Store,
  table,
} from '../../../src/index.js';
import { live, liveCount, liveRow } from '../../../src/live/index.js';
import { ofKind } from '../../support/error-kind.js';

const opened: Store[] = [];
afterEach(async () => {
  vi.restoreAllMocks();
  for (const db of opened.splice(0)) await db.close();
});

interface Row {
  id: string;
  note?: string;
}

/** Rows as they arrive by a sync, from a tab of a newer version, or from an older one. */
const KINDS = {
  'of a newer version': {
    definition: table({ schema: rowType<Row>(), key: 'id', indexes: { byNote: ['note'] } }),
    bad: { id: 'bad', note: 'b', '~v': 2 },
    code: 'newer-version/schema',
  },
  'of plain text in a structured table': {
    definition: table({
      schema: rowType<Row>(),
      key: 'id',
      values: 'structured',
      indexes: { byNote: ['note'] },
    }),
    bad: { id: 'bad', note: '~home' },
    code: 'invalid-argument/value',
  },
  'that migrate refuses': {
    definition: table({
      schema: rowType<Row>(),
      key: 'id',
      indexes: { byNote: ['note'] },
      version: 2,
      migrate: (row: Record<string, unknown>) => {
        if (row.note === 'refuse') throw new Error('no');
        return row as never;
      },
    }),
    bad: { id: 'bad', note: 'refuse' },
    code: 'invalid-argument/value',
  },
} as const;

const caught = (call: Promise<unknown>) =>
  call.then(
    (value) => expect.fail(`it has resolved to ${JSON.stringify(value)}`),
    (cause: unknown) => cause as HedgerowError,
  );

describe.each(Object.entries(KINDS))('a row %s', (name, { definition, bad, code }) => {
  const store = async () => {
    const db = await open(`unreadable ${name}`, { storage: memory(), tables: { t: definition } });
    opened.push(db);
    return db;
  };
  const error = { ...ofKind(code), table: 't', key: 'bad' };

  it('is reported by a watch, which reports the others and goes on', async () => {
    const db = await store();
    const reports: unknown[] = [];
    vi.spyOn(console, 'error').mockImplementation((cause) => void reports.push(cause));
    const rows = new Map<unknown, unknown>();
    const failed: unknown[] = [];
    db.t.watch(
      (changes) => {
        for (const change of changes) {
          if (change.op === 'delete') rows.delete(change.key);
          else rows.set(change.key, change.newValue);
        }
      },
      { initial: true, onError: (cause) => failed.push(cause) },
    );
    const ids = () => [...rows.keys()].sort().join();
    await db.t.put({ id: 'a', note: 'a' });
    await expect.poll(ids).toBe('a');
    await db.putMany([
      ['t/b', { id: 'b', note: 'b' }],
      ['t/bad', bad],
      ['t/c', { id: 'c', note: 'c' }],
    ]);
    await expect.poll(ids).toBe('a,b,c');
    expect(reports).toMatchObject([error]);
    // It is mended.
    await db.put('t/bad', {
      id: 'bad',
      note: 'good',
      ...(name.includes('migrate') && { '~v': 2 }),
    });
    await db.t.put({ id: 'd', note: 'd' });
    await expect.poll(ids).toBe('a,b,bad,c,d');
    // The earlier row is no longer readable, and counts as deleted.
    await db.put('t/bad', bad);
    await expect.poll(ids).toBe('a,b,c,d');
    await db.delete('t/bad');
    await db.t.put({ id: 'e', note: 'e' });
    await expect.poll(ids).toBe('a,b,c,d,e');
    expect(failed).toEqual([]);
  });

  it('is left out of the first rows of a watch', async () => {
    const db = await store();
    vi.spyOn(console, 'error').mockImplementation(() => {});
    await db.putMany([
      ['t/a', { id: 'a', note: 'a' }],
      ['t/bad', bad],
    ]);
    const keys = new Set<unknown>();
    db.t.watch(
      (changes) => {
        for (const { key } of changes) keys.add(key);
      },
      { initial: true },
    );
    await db.t.ready();
    await db.t.put({ id: 'z', note: 'z' });
    // A row that is brought forward is reported again.
    await expect.poll(() => [...keys].join()).toBe('a,z');
  });

  it('is reported together with others of the same call', async () => {
    const db = await store();
    const reports: Error[] = [];
    vi.spyOn(console, 'error').mockImplementation((cause) => void reports.push(cause));
    // A migration may change the readable row once more.
    const keys = new Set<unknown>();
    db.t.watch((changes) => {
      for (const { key } of changes) keys.add(key);
    });
    await db.putMany([
      ...Array.from({ length: 50 }, (_, at): [string, unknown] => [`t/bad${at + 10}`, bad]),
      ['t/z', { id: 'z', note: 'z' }],
    ]);
    await expect.poll(() => [...keys]).toEqual(['z']);
    const unreadable = reports.filter(({ message }) => message.includes('cannot be read'));
    expect(unreadable).toMatchObject([{ message: '50 rows cannot be read', cause: error }]);
  });

  it('is left out of a live list, whose error names it', async () => {
    const db = await store();
    await db.putMany([
      ['t/a', { id: 'a', note: 'a' }],
      ['t/bad', bad],
      ['t/c', { id: 'c', note: 'c' }],
    ]);
    const list = live(db.t.all());
    list.subscribe(() => {});
    await expect
      .poll(() =>
        list
          .get()
          .rows.map(({ id }) => id)
          .join(),
      )
      .toBe('a,c');
    expect(list.get()).toMatchObject({ status: 'ready', error });
    const row = liveRow(db.t, 'bad');
    row.subscribe(() => {});
    await expect.poll(() => row.get().status).toBe('error');
    expect(row.get()).toMatchObject({ value: undefined, error });
    expect(liveCount(db.t.all()).get().count).toBe(3);
    await db.delete('t/bad');
    await expect.poll(() => list.get().error).toBeUndefined();
    await expect.poll(() => row.get().status).toBe('ready');
    list.close();
    row.close();
  });

  it('is named by each read that has it', async () => {
    const db = await store();
    await db.putMany([
      ['t/a', { id: 'a', note: 'a' }],
      ['t/bad', bad],
    ]);
    const iterated = async () => {
      for await (const _ of db.t) {
      }
    };
    const reads: [string, () => Promise<unknown>][] = [
      ['get', () => db.t.get('bad')],
      ['getMany', () => db.t.getMany(['a', 'bad'])],
      ['toArray', () => db.t.toArray()],
      [
        'filter',
        () =>
          db.t
            .all()
            .filter(() => true)
            .toArray(),
      ],
      ['for await', iterated],
      ['at', () => db.t.at(1)],
      ['a transaction', () => db.transaction((tx) => tx.t.get('bad'))],
      ['its list', () => db.transaction((tx) => tx.t.toArray())],
      ['update', () => db.t.update('bad', { note: 'x' })],
      ['a snapshot', () => db.snapshot().t.toArray()],
    ];
    for (const [read, call] of reads) {
      const cause = await caught(call());
      expect(cause, read).toMatchObject(error);
      expect(cause.message, read).toMatch(/^t "bad": /);
    }
    // It can be found, and deleted.
    await db.t.delete('bad');
    expect(await db.t.toArray()).toEqual([{ id: 'a', note: 'a' }]);
  });
});
