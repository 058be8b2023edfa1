/** Stores that are encrypted in SQLite: the contract of adapters over each driver, and what their files show. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { assert, describe, expect, it } from 'vitest';
import { bytesOf as rootBytesOf } from '../src/base/root.js';
import { atRest, rotateKey } from '../src/encryption/index.js';
import { memory, open } from '../src/index.js';
import { memoryRemote } from '../src/remote/index.js';
import type { Storage } from '../src/storage/segment-store.js';
import { sqlite } from '../src/storage/sql/node.js';
import { bytesOf, dumpOf } from './at-rest-dump.js';
import { type Entry, failure } from './model.js';
import { sampled } from './property.js';
import { segmentStoreContract } from './segment-store-contract.js';
import { DRIVER as driver, folder, SQL_STORAGES } from './sql-storages.js';

const key = new Uint8Array(32).fill(7);
const encryption = atRest({ key });

for (const [title, make] of SQL_STORAGES) {
  describe(`encrypted ${title}`, () => {
    // Of what is sealed the whole contract is asked in memory.
    for (const { name, run } of sampled(segmentStoreContract)) {
      it(name, async () => run(encryption.over(await make()), assert));
    }
  });
}

describe.each(SQL_STORAGES)('rotateKey over %s', (_, make) => {
  it.each([
    ['a store of one branch', 0, 0],
    ['a store that has 60', 60, 0],
    ['a store that had 60', 60, 60],
  ])('leaves nothing of the old record in the file of %s', async (_, begun, deleted) => {
    const location = folder();
    const storage = await make({ location });
    const to = { key: new Uint8Array(32).fill(8) };
    const db = await open('test', { storage, encryption });
    await db.putMany(rows);
    // So many refs that their tree is split, and joined again when they go.
    for (let at = 0; at < begun; at++) await db.branch(`branch ${at}`);
    for (let at = 0; at < deleted; at++) await db.deleteBranch(`branch ${at}`);
    await db.close();
    const refs = (await dumpOf(storage)).refs.flat();
    const parts = refs.filter(({ name }) => name.startsWith('encryption/'));
    const found = () => {
      const bytes = filesIn(location);
      return parts.filter(({ commitBytes }) => bytes.includes(Buffer.from(commitBytes))).length;
    };
    expect(found()).toBe(6);
    await rotateKey('test', { from: { key }, to, storage });
    const next = await open('test', { storage, encryption: atRest(to) });
    for (let at = 0; at < 10; at++) await next.put(`later ${at}`, at);
    await next.close();
    expect(found()).toBe(0);
  });
});

/** All bytes of all files of a folder: of stores, and in a folder of it of locks. */
function filesIn(location: string, recursive = true): Buffer {
  const files = readdirSync(location, { recursive, withFileTypes: true });
  const paths = files
    .filter((file) => file.isFile())
    .map((file) => join(file.parentPath, file.name));
  return Buffer.concat(paths.sort().map((path) => readFileSync(path)));
}

const rows = Array.from(
  { length: 2000 },
  (_, at): Entry => [`customer/${at}`, { name: `Hortensia ${at}`, note: 'prefers marmalade' }],
);

/** Uses all of a store that is named somewhere; returns what nobody may see of it. */
async function used(storage: Storage, isSealed: boolean): Promise<Record<string, Uint8Array>> {
  const options = {
    storage,
    indexes: { byName: { path: '/name' } },
    ...(isSealed && { encryption }),
  };
  const db = await open('test', options);
  const roots: string[] = [];
  const note = () => roots.push(db.root);
  await db.putMany(rows);
  note();
  await db.put('customer/1', { name: 'Wilhelmina', note: 'new' });
  note();
  const draft = await db.branch('confidential draft');
  await draft.put('draft', 1);
  roots.push(draft.root);
  const link = await db.remote(memoryRemote(), { name: 'headquarters' });
  await link.push();
  await db.compact();
  // Another handle, which must announce to the first what it reads.
  const other = await open('test', options);
  await db.put('customer/2', { name: 'Wilhelmina', note: 'newer' });
  note();
  const snapshot = other.snapshot();
  await snapshot.count();
  const hidden = [
    'customer/',
    'Hortensia',
    'marmalade',
    'Wilhelmina',
    'confidential',
    'headquarters',
  ];
  const texts = Object.fromEntries(hidden.map((text) => [text, Buffer.from(text)]));
  const hashes = [...new Set(roots)].flatMap((root, at): [string, Uint8Array][] => [
    [`root ${at}`, rootBytesOf(root)],
    [`root ${at} as text`, Buffer.from(root)],
  ]);
  return {
    ...texts,
    ...Object.fromEntries(hashes),
    'a branch': Buffer.from('branch/'),
    'a remote': Buffer.from('sync/'),
    'the fence': Buffer.from('collected'),
    // With its version: random bytes have any four letters now and then.
    'a table': Buffer.from('HDGT\u0001'),
  };
}

const shown = (bytes: Uint8Array, secrets: Record<string, Uint8Array>) =>
  Object.keys(secrets).filter((name) => Buffer.from(bytes).includes(Buffer.from(secrets[name]!)));

describe('what is stored', () => {
  it('shows nothing of rows, names and roots in the files of SQLite', async () => {
    const [plain, sealed] = [folder(), folder()];
    const secrets = await used(sqlite({ location: plain, driver }), false);
    // In a plain store all of it is seen: the search finds what there is.
    const seen = shown(filesIn(plain), secrets);
    expect(seen.filter((name) => !/as text/.test(name))).toHaveLength(
      Object.keys(secrets).filter((name) => !/as text/.test(name)).length,
    );
    // Those are in the names of locks.
    expect(seen.some((name) => /as text/.test(name))).toBe(true);
    const same = await used(sqlite({ location: sealed, driver }), true);
    expect(Object.keys(same)).toEqual(Object.keys(secrets));
    expect(shown(filesIn(sealed), same)).toEqual([]);
    expect(filesIn(sealed).includes('SQLite format 3')).toBe(true);
  });

  it('shows nothing of them at the level of storage either', async () => {
    const [plain, sealed] = [memory(), memory()];
    const secrets = await used(plain, false);
    expect(shown(bytesOf(await dumpOf(plain)), secrets).length).toBeGreaterThan(8);
    const same = await used(sealed, true);
    expect(shown(bytesOf(await dumpOf(sealed)), same)).toEqual([]);
  });

  it('is not changed by whoever has another key, or none', async () => {
    const location = folder();
    const storage = sqlite({ location, driver });
    const db = await open('test', { storage, encryption });
    await db.putMany(rows);
    await db.close();
    const before = filesIn(location, false);
    const other = atRest({ key: new Uint8Array(32).fill(8) });
    for (const given of [{}, { encryption: other }, { encryption: atRest({ passphrase: 'a' }) }]) {
      await expect(open('test', { storage, ...given })).rejects.toEqual(failure('wrong-key'));
    }
    expect(filesIn(location, false).equals(before)).toBe(true);
  });

  it('is the same key for all who make the store at once', async () => {
    const storage = sqlite({ location: folder(), driver });
    const opening = Array.from({ length: 5 }, () => open('test', { storage, encryption }));
    const handles = await Promise.all(opening);
    for (const [at, db] of handles.entries()) await db.put(`${at}`, at);
    expect(await (await open('test', { storage, encryption })).count()).toBe(handles.length);
  });
});

describe('handles of one file', () => {
  it('see by locks that are sealed what the others read', async () => {
    const storage = sqlite({ location: folder(), driver });
    const options = { storage, encryption, cacheBytes: 0 };
    const collector = await open('test', options);
    await collector.putMany(rows);
    const reader = await open('test', options);
    const snapshot = reader.snapshot();
    expect(await snapshot.count()).toBe(rows.length);
    await expect
      .poll(async () => ((await storage.locks?.query())?.held ?? []).map(({ name = '' }) => name))
      .toContainEqual(expect.stringContaining('/sealed/'));
    const names = ((await storage.locks?.query())?.held ?? []).map(({ name = '' }) => name);
    expect(names.filter((name) => name.includes('/pin/'))).toEqual([]);
    // Else the collector deletes what the snapshot reads.
    await collector.clear();
    for (let round = 0; round < 4; round++) {
      await collector.putMany(rows.map(([name]) => [name, round]));
      await collector.compact();
    }
    const held = await snapshot.scan().toArray();
    expect(held).toHaveLength(rows.length);
    snapshot.release();
    await collector.put('a', 1);
    expect((await collector.compact()).segmentsDeleted).toBeGreaterThan(0);
  });
});
