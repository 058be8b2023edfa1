/** An encrypted remote whose key is replaced by the next one. */
import { describe, expect, it } from 'vitest';
import { remoteKeys } from '../../../src/sync/encryption/index.js';
import { bucket } from '../../../src/sync/link/bucket.js';
import type { RemoteEncryption } from '../../../src/sync/remote/format/cipher-suite.js';
import { memoryRemote, type Remote } from '../../../src/sync/remote/index.js';
import { failure } from '../../support/models/store-model.js';
import { objectsOf } from '../../support/remote-objects.js';
import { keyOf } from '../../support/remote-scopes.js';
import { device, many, rowsOf } from '../../support/worlds/sync-devices.js';

/** Returns the key number of each object. */
async function epochsOf(remote: Remote): Promise<number[]> {
  const all = [...(await objectsOf(remote)).values()];
  return all.map((bytes) => new DataView(bytes.buffer, bytes.byteOffset).getUint16(6, true)).sort();
}

describe('a new key', () => {
  const at = (epoch: number, most = epoch): RemoteEncryption =>
    remoteKeys({
      place: 'room',
      keys: (wanted) => (wanted <= most ? keyOf(wanted) : undefined),
      epoch,
    });

  it('writes new objects, and old objects stay readable', async () => {
    const remote = memoryRemote();
    const a = await device(remote, { encryption: at(1) });
    await a.db.putMany(many(20_000, 'first'));
    await a.link.push();
    // The repository file, the head, and the objects that they name: the pack, the nodes, the directory and the
    // history.
    expect(await epochsOf(remote)).toEqual([1, 1, 1, 1, 1, 1]);
    const turned = await a.db.connect(bucket(remote, { probe: false, encryption: at(2) }));
    await a.db.putMany(many(300, 'second'));
    await turned.push();
    // The old objects stay except the head; the delta and the head are new.
    expect(await epochsOf(remote)).toEqual([1, 1, 1, 1, 1, 2, 2]);
    // A device with both keys writes with the later one without an option.
    const b = await device(remote, { encryption: at(1, 2) });
    await b.link.pull();
    expect(b.db.root).toBe(a.db.root);
    await b.db.put('b', 1);
    await b.link.push();
    expect(await epochsOf(remote)).toEqual([1, 1, 1, 1, 1, 2, 2]);
    await turned.pull();
    expect(await a.db.get('b')).toBe(1);
    // A device that was shut out keeps its rows, and gets no new ones.
    const c = await device(remote, { encryption: at(1) });
    const error = await c.link.pull().catch((cause) => cause);
    expect(error).toEqual(failure('wrong-key'));
    expect(error.message).toContain('epoch 2');
    // The new key alone reads all rows after a checkpoint of all.
    await a.db.putMany(many(20_000, 'third'));
    await turned.push();
    const heads = await device(remote, { encryption: at(2) });
    await heads.link.pull();
    expect(heads.db.root).toBe(a.db.root);
    // It cannot read the history under the other key, and goes on from it.
    await heads.db.putMany(many(20_000, 'fourth'));
    await heads.link.push();
    await turned.pull();
    expect(heads.db.root).toBe(a.db.root);
  });

  it('works without the earlier key, and a device reads past a cache with an old head', async () => {
    const remote = memoryRemote();
    const a = await device(remote, { encryption: at(1) });
    await a.db.put('a', 1);
    await a.link.push();
    const old = await remote.readHead('main');
    const turned = await a.db.connect(bucket(remote, { probe: false, encryption: at(2) }));
    await a.db.put('a', 2);
    await turned.push();
    const late = remoteKeys({
      place: 'room',
      keys: (epoch) => (epoch === 2 ? keyOf(2) : undefined),
      epoch: 2,
    });
    const b = await device(remote, { encryption: late });
    // A separate branch, where only the repository file has the first key.
    const own = await b.db.connect(
      bucket(remote, {
        ...{ name: 'own', probe: false, encryption: late, remoteBranch: 'own' },
      }),
    );
    await b.db.put('b', 1);
    expect(await own.push()).toMatchObject({ isPushed: true });
    await b.link.pull();
    expect(await rowsOf(b.db)).toEqual({ a: 2, b: 1 });
    let reads = 0;
    const cached = await b.db.connect(
      bucket(
        {
          ...remote,
          readHead: async (branch, options) => {
            reads += 1;
            return options?.pastCaches ? remote.readHead(branch, options) : old;
          },
        },
        { probe: false, encryption: late },
      ),
    );
    expect(await cached.pull()).toMatchObject({ rows: 0 });
    expect(reads).toBe(2);
  });

  it('is written by a push without changes only if the key is new', async () => {
    const remote = memoryRemote();
    const a = await device(remote, { encryption: at(1) });
    await a.db.put('a', 1);
    await a.link.push();
    const turned = await a.db.connect(bucket(remote, { probe: false, encryption: at(7) }));
    expect(await turned.push()).toMatchObject({ isPushed: false });
    expect(await epochsOf(remote)).toEqual([1, 1]);
    await a.db.put('a', 2);
    expect(await turned.push()).toMatchObject({ isPushed: true });
    expect(await epochsOf(remote)).toEqual([1, 7]);
  });
});
