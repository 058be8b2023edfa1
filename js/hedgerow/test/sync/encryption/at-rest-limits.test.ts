/** Limits of an encrypted store in docs/encryption.md: it shows sizes, and it accepts older states. */
import { beforeAll, describe, expect, it } from 'vitest';
import { memory, open } from '../../../src/index.js';
import type { Storage } from '../../../src/storage/segment-store.js';
import { atRest } from '../../../src/sync/encryption/index.js';
import { bucket } from '../../../src/sync/link/bucket.js';
import { memoryRemote, type Remote } from '../../../src/sync/remote/index.js';
import { many } from '../../support/worlds/sync-devices.js';
import { type Dump, dumpOf } from './at-rest-dump.js';

const encryption = atRest({ key: new Uint8Array(32).fill(7) });
const [ROWS, LATER] = [50, 20];
const nameOf = ([newest]: Dump['refs'][number]) => newest?.name;

/** A storage with this store, which accepts changes. */
async function storageWith({ segments, refs }: Dump): Promise<Storage> {
  const storage = memory();
  const store = await storage.open('test');
  await store.write({ segments, durability: 'strict' });
  for (const moves of refs) {
    // The history no longer has the earlier commits.
    let expected = 0;
    for (const move of moves.toReversed()) {
      const batch = { segments: [], durability: 'strict' } as const;
      expect(await store.write({ ...batch, move: { ...move, expected } })).toBe(true);
      expected = move.generation;
    }
  }
  await store.close();
  return storage;
}

/** The store with `ROWS`, and the same store with `LATER` added and pushed. */
let [before, now]: [Dump, Dump] = [
  { segments: [], refs: [] },
  { segments: [], refs: [] },
];
/** Its stored form. */
let main: string | undefined;
let remote: Remote;
beforeAll(async () => {
  const storage = memory();
  remote = memoryRemote();
  const db = await open('test', { storage, encryption });
  const link = await db.connect(bucket(remote, { probe: false }));
  await db.putMany(many(ROWS, 'first'));
  await link.push();
  before = await dumpOf(storage);
  await db.putMany(many(LATER, 'later').map(([key, value]) => [`later/${key}`, value]));
  const after = await dumpOf(storage);
  const moved = after.refs.filter(([newest]) => !before.refs.some(([one]) => same(one, newest)));
  expect(moved).toHaveLength(1);
  main = moved[0] && nameOf(moved[0]);
  await link.push();
  await db.close();
  now = await dumpOf(storage);
});

const same = (a?: Dump['refs'][number][number], b?: Dump['refs'][number][number]) =>
  a?.name === b?.name && a?.generation === b?.generation;

describe('a writer to the disk', () => {
  it('takes a branch back without an error, and its next push deletes the rows at the remote', async () => {
    const older = before.refs.find((moves) => nameOf(moves) === main) ?? [];
    const refs = now.refs.map((moves) => (nameOf(moves) === main ? older : moves));
    const storage = await storageWith({ segments: now.segments, refs });
    const db = await open('test', { storage, encryption });
    expect(await db.health.verify()).toMatchObject({ ok: true });
    expect(await db.count()).toBe(ROWS);
    const link = await db.connect(bucket(remote, { probe: false }));
    await link.push();
    const other = await open('other', { storage: memory() });
    await (await other.connect(bucket(remote, { probe: false }))).pull();
    expect(await other.count()).toBe(ROWS);
  });

  it('removes a branch without an error: a store without main is empty', async () => {
    const refs = now.refs.filter((moves) => nameOf(moves) !== main);
    const db = await open('test', { storage: await storageWith({ ...now, refs }), encryption });
    expect(await db.health.verify()).toMatchObject({ ok: true });
    expect(await db.count()).toBe(0);
  });
});

it('recognises known rows by the sizes of segments', async () => {
  const sizes: number[][] = [];
  for (const fill of [1, 2]) {
    const storage = memory();
    const own = atRest({ key: new Uint8Array(32).fill(fill) });
    const db = await open('test', { storage, encryption: own });
    await db.putMany(many(20_000, 'known'));
    await db.close();
    sizes.push((await dumpOf(storage)).segments.map(({ segmentBytes }) => segmentBytes.length));
  }
  expect(sizes[0]?.length).toBeGreaterThan(1);
  expect(sizes[0]).toEqual(sizes[1]);
});
