/** Limits of trees: their number in a commit, their names and definitions, and leaves of sum trees. */
import { describe, expect, it } from 'vitest';
import type { ErrorKind } from '../../../src/base/errors.js';
import {
  MAX_COLUMNS,
  MAX_DEFINITION_BYTES,
  MAX_SUM_DEFINITION_BYTES,
  MAX_SUM_VALUE_BYTES,
  MAX_TREE_NAME_BYTES,
  MAX_TREES,
} from '../../../src/base/limits.js';
import {
  type HedgerowError,
  importStore,
  memory,
  type OpenOptions,
  open,
  type Store,
} from '../../../src/index.js';
import { ofKind } from '../../support/error-kind.js';
import { all, failure } from '../../support/models/store-model.js';
import { isDeep } from '../../support/property.js';
import { exported } from '../../support/transferring.js';

const LEAF = { value: Uint8Array.of(1), sum: 1n };

/** Expects that every reader reads the store as it is. */
async function expectSound(db: Store, storage = memory()): Promise<void> {
  expect(await db.health.verify({ checkIndexes: true })).toMatchObject({ ok: true, faults: [] });
  const { root } = await importStore('copy', [await exported(db)], { storage, checkIndexes: true });
  expect(root).toBe(db.root);
  const copy = await open('copy', { storage });
  expect(await all(copy)).toEqual(await all(db));
  await copy.close();
}

/** Expects that a call is refused, and that the store does not change. */
async function expectRefused(db: Store, code: ErrorKind, call: () => unknown) {
  const { root } = db;
  const error = await (async () => call())().then(
    () => undefined,
    (cause: unknown) => cause,
  );
  expect(error).toEqual(failure(code));
  expect(db.root).toBe(root);
  await expectSound(db);
  return error as HedgerowError;
}

const opened = (options: OpenOptions = {}) => open('test', { storage: memory(), ...options });

describe('a commit', () => {
  it('names as many trees as it may, and one more is refused before it is stored', async () => {
    const storage = memory();
    const names = Array.from({ length: MAX_TREES - 2 }, (_, at) => [`t${at}`, { sum: '/n' }]);
    const db = await open('test', { storage, advanced: { sums: Object.fromEntries(names) } });
    await db.put('k', { n: 1 });
    // The other two are the rows and a manual tree.
    await db.sumTree('hand').put('leaf', LEAF);
    // The store is checked again after the refused call.
    if (isDeep) await expectSound(db);
    const error = await expectRefused(db, 'invalid-argument', () =>
      db.sumTree('more').put('leaf', LEAF),
    );
    expect(error.message).toContain(`at most ${MAX_TREES} trees`);
    await db.put('l', { n: 2 });
    expect(db.sumTree('t0').root.sum).toBe(3n);
    const { root } = db;
    await db.close();
    const again = await open('test', { storage, advanced: { sums: Object.fromEntries(names) } });
    expect(again.root).toBe(root);
    expect(await again.get('k')).toEqual({ n: 1 });
    expect(await again.sumTree('hand').get('leaf')).toMatchObject(LEAF);
    await again.close();
  });
});

describe('a sum tree', () => {
  it('has a name of well-formed text of at most 254 bytes', async () => {
    const db = await opened();
    const longest = 'é'.repeat(MAX_TREE_NAME_BYTES / 2);
    await db.sumTree(longest).put('leaf', LEAF);
    expect(db.sumTree(longest).root.sum).toBe(1n);
    await expectSound(db);
    for (const name of [`${longest}n`, '\ud800']) {
      await expectRefused(db, 'invalid-argument', async () => db.sumTree(name).put('leaf', LEAF));
      const tree = () => db.sumTree(name);
      expect(tree).toThrow(expect.objectContaining(ofKind('invalid-argument')));
      const sums = { [name]: { sum: '/n' } };
      await expect(opened({ advanced: { sums } })).rejects.toEqual(failure('invalid-argument'));
    }
  });

  it('has a definition of at most 984 bytes', async () => {
    const prefixOf = (length: number) => 'k'.repeat(length - '["","/n","",""]'.length);
    const prefix = prefixOf(MAX_SUM_DEFINITION_BYTES);
    const db = await opened({ advanced: { sums: { t: { sum: '/n', prefix } } } });
    await db.put(prefix, { n: 3 });
    expect(db.sumTree('t').root.sum).toBe(3n);
    await expectSound(db);
    for (const bad of [prefixOf(MAX_SUM_DEFINITION_BYTES + 1), '\ud800']) {
      const sums = { t: { sum: '/n', prefix: bad } };
      await expect(opened({ advanced: { sums } })).rejects.toEqual(failure('invalid-argument'));
    }
    const sums = { t: { sum: '/\ud800' } };
    await expect(opened({ advanced: { sums } })).rejects.toEqual(failure('invalid-argument'));
  });

  it('takes a leaf of at most 1 MiB by hand', async () => {
    const db = await opened();
    const leaf = (length: number) => ({ value: new Uint8Array(length), sum: 1n });
    await db.sumTree('t').put('k', leaf(MAX_SUM_VALUE_BYTES));
    expect((await db.sumTree('t').get('k'))?.value).toHaveLength(MAX_SUM_VALUE_BYTES);
    await expectSound(db);
    await expectRefused(db, 'invalid-argument/value', () =>
      db.sumTree('t').put('l', leaf(MAX_SUM_VALUE_BYTES + 1)),
    );
  });

  it('that follows rows refuses a row above 1 MiB by that limit, its name and its key', async () => {
    const db = await opened({ advanced: { sums: { cents: { sum: '/n' } } } });
    const row = (length: number) => ({
      n: 1,
      text: 'x'.repeat(length - '{"n":1,"text":""}'.length),
    });
    await db.put('at', row(MAX_SUM_VALUE_BYTES));
    await expectSound(db);
    const puts: [string, () => Promise<unknown>][] = [
      ['put', () => db.put('above', row(MAX_SUM_VALUE_BYTES + 1))],
      [
        'putMany',
        () =>
          db.putMany([
            ['a', row(50)],
            ['above', row(MAX_SUM_VALUE_BYTES + 1)],
          ]),
      ],
    ];
    for (const [name, put] of puts) {
      const error = await expectRefused(db, 'invalid-argument/value', put);
      expect(error.key, name).toBe('above');
      for (const word of ['"cents"', '"above"', '1 MiB'])
        expect(error.message, name).toContain(word);
    }
    // Other puts of the turn are not refused with it.
    const results = await Promise.allSettled([
      db.put('b', { n: 2 }),
      db.put('above', row(MAX_SUM_VALUE_BYTES + 1)),
      db.put('c', { n: 3 }),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(db.sumTree('cents').root.sum).toBe(6n);
  });

  it('that follows rows refuses a key with half of a surrogate pair, which is not the prefix without it', async () => {
    const db = await opened({ advanced: { sums: { owed: { key: '/owner', sum: '/n' } } } });
    await db.put('1', { owner: 'alice', n: 5 });
    const error = await expectRefused(db, 'invalid-argument/value', () =>
      db.put('2', { owner: 'alice\ud800', n: 7 }),
    );
    expect(error.key).toBe('2');
    expect((await db.sumTree('owed').get('alice'))?.sum).toBe(5n);
    const bytes = new TextEncoder().encode('["3",{"owner":"\\ud800b","n":1}]\n');
    await expectRefused(db, 'invalid-argument/value', () =>
      db.putMany(bytes, { format: 'ndjson' }),
    );
    await expectSound(db);
  });

  it('makes no proof without claims', async () => {
    const db = await opened();
    await db.sumTree('t').put('k', LEAF);
    await expectRefused(db, 'invalid-argument', () => db.sumTree('t').proveMany([]));
  });
});

describe('an index', () => {
  const withPath = (path: string | string[]) => opened({ indexes: { i: { path } } });

  it('has a definition of at most 254 bytes', async () => {
    const pathOf = (length: number) => `/${'p'.repeat(length - '["","/"]'.length)}`;
    const path = pathOf(MAX_DEFINITION_BYTES);
    const db = await withPath(path);
    await db.put('k', { [path.slice(1)]: 7 });
    expect(await db.scan({ index: 'i', equals: 7 }).keys().toArray()).toEqual(['k']);
    await expectSound(db);
    await expect(withPath(pathOf(MAX_DEFINITION_BYTES + 1))).rejects.toEqual(
      failure('invalid-argument'),
    );
  });

  it('has at most 8 columns', async () => {
    const columns = (count: number) => Array.from({ length: count }, (_, at) => `/${at}`);
    const db = await withPath(columns(MAX_COLUMNS));
    await db.put('k', [1, 2, 3, 4, 5, 6, 7, 8]);
    expect(await db.scan({ index: 'i' }).keys().toArray()).toEqual(['k']);
    await expectSound(db);
    await expect(withPath(columns(MAX_COLUMNS + 1))).rejects.toEqual(failure('invalid-argument'));
  });
});

it('an escaped word of a patch in bytes is the word', async () => {
  const db = await opened();
  const text = '{"\\u006fp":"p\\u0075t","key":"k","value":1}\n';
  await db.applyPatch(new TextEncoder().encode(text), { format: 'ndjson' });
  expect(await db.get('k')).toBe(1);
});
