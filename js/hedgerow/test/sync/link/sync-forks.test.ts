/** Remotes that do not continue a device's last state: restored, deleted, forked, exchanged. */
import { describe, expect, it } from 'vitest';
import type { HedgerowError } from '../../../src/index.js';
import { remoteKeys } from '../../../src/sync/encryption/remote-keys.js';
import { bucket } from '../../../src/sync/link/bucket.js';
import type { BucketOptions } from '../../../src/sync/link/open-bucket-connection.js';
import type { Remote } from '../../../src/sync/remote/index.js';
import { kindOf, ofKind } from '../../support/error-kind.js';
import { keyOf } from '../../support/remote-scopes.js';
import { PRIVATE, signedBy } from '../../support/signed-keys.js';
import { copyOf, exchange, newWorld, View } from '../../support/worlds/remote-worlds.js';
import { type Device, device, rowsOf } from '../../support/worlds/sync-devices.js';

const sealed = (): BucketOptions => ({
  encryption: remoteKeys({ place: 'forks', keys: keyOf, epoch: 1 }),
});
const KINDS: readonly [
  name: string,
  options: () => BucketOptions,
  wrap: (remote: Remote) => Remote,
][] = [
  ['plain', () => ({}), (remote) => remote],
  ['encrypted', sealed, (remote) => remote],
  ['encrypted and signed', sealed, signedBy(PRIVATE)],
];

async function pushes({ db, link }: Device, prefix: string, count: number): Promise<void> {
  for (let nth = 0; nth < count; nth++) {
    await db.put(`${prefix}/${nth}`, nth);
    expect(await link.push()).toMatchObject({ isPushed: true });
  }
}

const codeOf = async (call: () => Promise<unknown>) =>
  call().then(
    () => 'resolved',
    (cause: HedgerowError) => kindOf(cause),
  );

describe.each(KINDS)('a remote that is %s', (_, options, wrap) => {
  const join = (view: View) => device(wrap(view.remote), options());

  /** Expects that both calls end with `rollback`, and that no row is lost here. */
  async function expectRollback({ db, link }: Device): Promise<void> {
    const before = await rowsOf(db);
    expect(await codeOf(() => link.pull())).toBe('rollback');
    await db.put('later', 1);
    expect(await codeOf(() => link.push())).toBe('rollback');
    expect(await rowsOf(db)).toEqual({ ...before, later: 1 });
  }

  it.each([1, 2, 4, 5, 6, 7, 20, 70, 200])(
    'is found out after a restore from 5 pushes ago and %i later pushes of others',
    async (count) => {
      const view = new View(newWorld());
      const a = await join(view);
      const b = await join(view);
      await pushes(a, 'before', 60);
      await b.link.pull();
      const backup = await copyOf(view.world);
      await pushes(a, 'lost', 5);
      view.world = backup;
      await pushes(b, 'after', count);
      await expectRollback(a);
    },
  );

  it.each([3, 8, 80])(
    'is found out after the loss of its head and %i pushes from a new beginning',
    async (count) => {
      const view = new View(newWorld());
      const a = await join(view);
      await pushes(a, 'before', 6);
      await view.world.remote.remove(['h/main']);
      await pushes(await join(view), 'after', count);
      await expectRollback(a);
    },
  );

  it('is found out after its proxy faked a swap', async () => {
    const view = new View(newWorld());
    const other = new View(view.world);
    const a = await join(view);
    const b = await join(other);
    await pushes(a, 'before', 3);
    await b.link.pull();
    view.isLying = true;
    await pushes(a, 'lost', 1);
    await pushes(b, 'after', 3);
    await expectRollback(a);
  });

  it('never joins two histories that it shows to two devices', async () => {
    const views = [new View(newWorld()), new View(newWorld())] as const;
    views[1].world = views[0].world;
    const [a, b] = [await join(views[0]), await join(views[1])];
    await pushes(a, 'before', 3);
    await b.link.pull();
    views[1].world = await copyOf(views[0].world);
    await pushes(a, 'of a', 4);
    await pushes(b, 'of b', 9);
    views[0].world = views[1].world;
    await expectRollback(a);
  });

  it('is found out after an exchange of its branches', async () => {
    const view = new View(newWorld());
    const a = await join(view);
    const b = await device(wrap(view.remote), { ...options(), remoteBranch: 'other' });
    await pushes(a, 'before', 3);
    await pushes(b, 'of b', 6);
    await exchange(view.world, 'main', 'other');
    const before = await rowsOf(a.db);
    const code = await codeOf(() => a.link.pull());
    expect(['rollback', 'remote/data', 'unauthorized', 'wrong-key']).toContain(code);
    expect(await rowsOf(a.db)).toEqual(before);
  });

  it('continues for a device that was away for 300 pushes and several checkpoints', async () => {
    const view = new View(newWorld());
    const [a, b] = [await join(view), await join(view)];
    await pushes(a, 'before', 3);
    await b.link.pull();
    await pushes(a, 'after', 300);
    await b.db.put('waits', 1);
    await b.link.pull();
    expect(await rowsOf(b.db)).toEqual({ ...(await rowsOf(a.db)), waits: 1 });
    await b.link.push();
  });
});

it('a link follows one branch of its remote', async () => {
  const view = new View(newWorld());
  const a = await device(view.remote);
  await pushes(a, 'before', 3);
  await a.link.close();
  await expect(a.db.connect(bucket(view.remote, { remoteBranch: 'room' }))).rejects.toMatchObject({
    ...ofKind('invalid-argument'),
  });
  const room = await a.db.connect(bucket(view.remote, { name: 'room', remoteBranch: 'room' }));
  await room.pull();
  expect(Object.keys(await rowsOf(a.db))).toHaveLength(3);
});

it('a link that has seen no head may follow another branch', async () => {
  const view = new View(newWorld());
  const a = await device(view.remote);
  await a.link.close();
  const link = await a.db.connect(bucket(view.remote, { remoteBranch: 'room', probe: false }));
  await a.db.put('a', 1);
  expect(await link.push()).toMatchObject({ isPushed: true });
});
