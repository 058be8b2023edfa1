/** Encrypted stores in SQLite: the contract of adapters over each driver, and the contents of their files. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { assert, describe, expect, it } from 'vitest';
import { parseRoot as rootBytesOf } from '../../hedgerow/src/base/root-hash.js';
import { memory, open } from '../../hedgerow/src/index.js';
import type { Storage } from '../../hedgerow/src/storage/segment-store.js';
import { atRest, rotateKey } from '../../hedgerow/src/sync/encryption/index.js';
import { bucket } from '../../hedgerow/src/sync/link/bucket.js';
import { memoryRemote } from '../../hedgerow/src/sync/remote/index.js';
import { segmentStoreContract } from '../../hedgerow/test/support/contracts/segment-store-contract.js';
import { type Entry, failure } from '../../hedgerow/test/support/models/store-model.js';
import { sampled } from '../../hedgerow/test/support/property.js';
import { bytesOf, dumpOf } from '../../hedgerow/test/sync/encryption/at-rest-dump.js';
import { sqlite } from '../src/index.js';
import { DRIVER as driver, folder, SQL_STORAGES } from './support/sql-storages.js';

const key = new Uint8Array(32).fill(7);
const encryption = atRest({ key });

for (const [title, make] of SQL_STORAGES) {
  describe(`encrypted ${title}`, () => {
    // The tests in memory run the whole contract for sealed bytes.
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
  ])('leaves no byte of the old record in the file of %s', async (_, begun, deleted) => {
    const location = folder();
    const storage = await make({ location });
    const to = { key: new Uint8Array(32).fill(8) };
    const db = await open('test', { storage, encryption });
    await db.putMany(rows);
    // So many refs split their tree; their removal joins it again.
    for (let at = 0; at < begun; at++) await db.branches.open(`branch ${at}`);
    for (let at = 0; at < deleted; at++) await db.branches.delete(`branch ${at}`);
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

/** Returns all bytes of all files in a folder: of the stores, and of the locks in its subfolder. */
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

/** Uses all parts of a store that have names; returns the secrets that no file may show. */
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
  const draft = await db.branches.open('confidential draft');
  await draft.put('draft', 1);
  roots.push(draft.root);
  const link = await db.connect(bucket(memoryRemote(), { name: 'headquarters' }));
  await link.push();
  await db.health.compact();
  // The second handle must announce its reads to the first.
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

describe('the stored bytes', () => {
  it('do not show rows, names or roots in the files of SQLite', async () => {
    const [plain, sealed] = [folder(), folder()];
    const secrets = await used(sqlite({ location: plain, driver }), false);
    // A plain store shows all of them: this proves that the search works.
    const seen = shown(filesIn(plain), secrets);
    expect(seen.filter((name) => !/as text/.test(name))).toHaveLength(
      Object.keys(secrets).filter((name) => !/as text/.test(name)).length,
    );
    // The names of locks contain these.
    expect(seen.some((name) => /as text/.test(name))).toBe(true);
    const same = await used(sqlite({ location: sealed, driver }), true);
    expect(Object.keys(same)).toEqual(Object.keys(secrets));
    expect(shown(filesIn(sealed), same)).toEqual([]);
    expect(filesIn(sealed).includes('SQLite format 3')).toBe(true);
  });

  it('do not show them at the level of storage', async () => {
    const [plain, sealed] = [memory(), memory()];
    const secrets = await used(plain, false);
    expect(shown(bytesOf(await dumpOf(plain)), secrets).length).toBeGreaterThan(8);
    const same = await used(sealed, true);
    expect(shown(bytesOf(await dumpOf(sealed)), same)).toEqual([]);
  });

  it('do not change when a handle has another key or no key', async () => {
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

  it('have one key if several handles make the store at once', async () => {
    const storage = sqlite({ location: folder(), driver });
    const opening = Array.from({ length: 5 }, () => open('test', { storage, encryption }));
    const handles = await Promise.all(opening);
    for (const [at, db] of handles.entries()) await db.put(`${at}`, at);
    expect(await (await open('test', { storage, encryption })).count()).toBe(handles.length);
  });
});

describe('handles of one file', () => {
  it('see through sealed locks which commits the others read', async () => {
    const storage = sqlite({ location: folder(), driver });
    const options = { storage, encryption, advanced: { cacheBytes: 0 } };
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
    // Otherwise the collector deletes what the snapshot reads.
    await collector.clear();
    for (let round = 0; round < 4; round++) {
      await collector.putMany(rows.map(([name]) => [name, round]));
      await collector.health.compact();
    }
    const held = await snapshot.scan().toArray();
    expect(held).toHaveLength(rows.length);
    const { storedBytes } = await collector.health.stats();
    snapshot.close();
    await collector.put('a', 1);
    // The locks show the release a moment later, and the store may collect by itself as well.
    await expect
      .poll(async () => {
        await collector.health.compact();
        return (await collector.health.stats()).storedBytes;
      })
      .toBeLessThan(storedBytes / 2);
  });
});
