/** A link's ref at its earlier state, all others at their current one: a disk may lose its last write. */
import { describe, expect, it } from 'vitest';
import { FORMAT } from '../../../src/base/limits.js';
import { memory, open, type Storage } from '../../../src/index.js';
import type { Ref } from '../../../src/storage/segment-store.js';
import { bucket } from '../../../src/sync/link/bucket.js';
import { memoryRemote, type Remote } from '../../../src/sync/remote/index.js';
import { device, rowsOf } from '../../support/worlds/sync-devices.js';

const NAME = 'app';

/** Writes rows and pushes them. */
async function putRows(storage: Storage, remote: Remote, prefix: string, count: number) {
  const db = await open(NAME, { storage });
  const link = await db.connect(bucket(remote, { probe: false }));
  for (let nth = 0; nth < count; nth++) await db.put(`${prefix}/${nth}`, nth);
  await link.push();
  await db.close();
}

async function refsOf(storage: Storage): Promise<readonly Ref[]> {
  const store = await storage.open(NAME);
  const { refs } = await store.load();
  await store.close();
  return refs;
}

async function putBack(storage: Storage, name: string, before: Ref, now: Ref): Promise<void> {
  const store = await storage.open(NAME);
  const { commitBytes } = before;
  const move = { name, commitBytes, format: FORMAT };
  const generations = { generation: now.generation + 1, expected: now.generation };
  const also = [{ ...move, ...generations }];
  expect(await store.write({ segments: [], also, durability: 'strict' })).toBe(true);
  await store.close();
}

/** A device whose refs have moved by a push, and a remote with the push. */
async function scene() {
  const storage = memory();
  const remote = memoryRemote();
  await putRows(storage, remote, 'first', 50);
  const before = await refsOf(storage);
  await putRows(storage, remote, 'later', 20);
  const now = await refsOf(storage);
  const moved = now.filter(({ name, commitBytes }) => {
    const old = before.find((one) => one.name === name);
    return name !== 'main' && old !== undefined && hexOf(old.commitBytes) !== hexOf(commitBytes);
  });
  return { storage, remote, before, moved };
}

const hexOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
const { moved } = await scene();

it('a push moves the refs of its link', () => {
  const names = moved.map(({ name }) => name.replace(/^.*\//, ''));
  expect(names).toEqual(expect.arrayContaining(['origin', 'seen', 'turn', 'push']));
});

describe.each(moved.map(({ name }) => name))('the ref %s at its earlier state', (name) => {
  it.each(['push', 'pull'] as const)(
    'loses no row by a %s, here or at the remote',
    async (call) => {
      const { storage, remote, before, moved } = await scene();
      const find = (refs: readonly Ref[]) => refs.find((one) => one.name === name) as Ref;
      await putBack(storage, name, find(before), find(moved));
      const db = await open(NAME, { storage });
      const link = await db.connect(bucket(remote, { probe: false }));
      await db.put('waits', 1);
      const { code } = await link[call]().then(
        () => ({ code: 'resolved' }),
        (cause: { readonly code: string }) => cause,
      );
      expect(['resolved', 'rollback']).toContain(code);
      expect(Object.keys(await rowsOf(db))).toHaveLength(71);
      const other = await device(remote);
      await other.link.pull();
      expect(Object.keys(await rowsOf(other.db)).length).toBeGreaterThanOrEqual(70);
      await other.db.put('other', 1);
      await other.link.push();
      await db.close();
    },
  );
});
