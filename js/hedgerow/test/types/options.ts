/** Options of calls. Their types follow from the checks of the calls. */

import { expectTypeOf } from 'expect-type';
import { destroy, memory, open } from 'hedgerow';
import { atRest } from 'hedgerow/encryption';
import { bucket, httpRemote } from 'hedgerow/sync';

const encryption = atRest({ passphrase: 'x' });
const db = await open('a', {
  storage: memory(),
  encryption,
  durability: 'strict',
  indexes: undefined,
  advanced: { sliceMs: 4, onDeleted: () => {} },
});
// @ts-expect-error an option for experts ['sliceMs']
await open('a', { sliceMs: 4 });
// @ts-expect-error no durability
await open('a', { durability: 'none' });
// @ts-expect-error no storage
await destroy('a', { storage: 'memory' });

await db.putMany([{ id: 'x' }], {
  key: (row) => row.id,
  prefix: 'x/',
  onProgress: (progress) => expectTypeOf(progress.rows).toEqualTypeOf<number>(),
  signal: undefined,
});
// @ts-expect-error no option of the call ['prefx']
await db.putMany([['x', 1]], { prefx: 'x/' });
// @ts-expect-error no format
await db.applyPatch([], { format: 'csv' });
// @ts-expect-error patches have keys ['prefix']
await db.applyPatch([], { prefix: 'x/' });
// @ts-expect-error a bound is left out, or a string
await db.count({ gte: undefined });
await db.health.repair({ salvage: true, checkIndexes: true });
// @ts-expect-error a text
await db.health.repair({ salvage: 'yes' });

const remote = httpRemote({ url: 'https://example.com', token: async () => 'x' });
// @ts-expect-error no address ['url']
httpRemote({ token: 'x' });
const connection = await db.connect(bucket(remote, { name: 'a', policy: undefined }));
await connection.pull({
  onProgress: (progress) => expectTypeOf(progress).not.toBeAny(),
});
// @ts-expect-error the way is missing ['keep']
await connection.rejoin({});
