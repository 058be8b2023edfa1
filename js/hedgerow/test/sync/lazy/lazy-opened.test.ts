/** A lazy clone without its remote: it reads local rows, and reports all others as remote. */
import { expect, it } from 'vitest';
import { memory, open } from '../../../src/index.js';
import { atRest } from '../../../src/sync/encryption/index.js';
import { isDeep } from '../../support/property.js';
import { random } from '../../support/random.js';
import { keyOf, lazy, published, rowOf } from '../../support/worlds/lazy-devices.js';

/** The number of rows, and the bytes of each: fewer rows are longer. */
const [ROWS, BYTES] = isDeep ? [60_000, 30] : [4500, 300];
const shared = published(ROWS, BYTES);
const HERE = { gte: keyOf(1000), lt: keyOf(2000) };

const encryption = atRest({ key: random(5).bytes(32) });

it.each([
  ['plain', {}],
  ['encrypted', { encryption }],
])(
  'a lazy clone without its remote reads local rows, and reports other rows as remote (%s)',
  async (_, how) => {
    const { remote } = await shared;
    const storage = memory();
    const { db } = await lazy(remote, storage, 'app', how);
    await db.scan(HERE).toArray();
    await db.put(keyOf(1500), 'mine');
    const { root } = db;
    await db.close();
    const alone = await open('app', { storage, ...how });
    expect(alone.root).toBe(root);
    // The leaves that a scan reads ahead are not here.
    const rows = await alone.scan(HERE).toArray();
    expect(rows).toHaveLength(1000);
    expect(rows[0]).toEqual(rowOf(1000, 'open', BYTES));
    expect(await alone.count()).toBe(ROWS);
    const far = keyOf((ROWS * 2) / 3);
    const all = [keyOf(1500), far, keyOf(1501)];
    const told = { code: 'offline', message: expect.stringContaining("clone with mode: 'lazy'") };
    await expect(alone.get(far)).rejects.toMatchObject(told);
    await expect(alone.getMany(all)).rejects.toMatchObject(told);
    await expect(alone.scan({ gte: far }).toArray()).rejects.toMatchObject(told);
    await expect(alone.put(far, 1)).rejects.toMatchObject(told);
    await expect(alone.transaction(async (tx) => tx.get(far))).rejects.toMatchObject(told);
    expect(alone.root).toBe(root);
    await alone.put(keyOf(1501), 'mine, too');
    expect(await alone.getMany([keyOf(1500), keyOf(1501)])).toEqual(['mine', 'mine, too']);
    expect(await alone.health.verify()).toMatchObject({ ok: true });
    await alone.close();
  },
);
