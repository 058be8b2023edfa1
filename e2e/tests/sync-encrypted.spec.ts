/** A remote that is encrypted, by the WebCrypto of each engine. */

import { serveRemote } from '@hedgerow/server';
import { memoryRemote } from 'hedgerow/sync';
import { expect, test } from './fixtures.js';

test('an encrypted remote is read and written with the key alone', async ({ persistentPage }) => {
  const inner = memoryRemote();
  const server = await serveRemote(inner, { origin: '*' });
  try {
    const { page } = persistentPage;
    await page.goto('/remote.html');
    await page.waitForFunction(() => window.openStore !== undefined);
    const found = await page.evaluate(async (http: string) => {
      const { importKey, passphraseKey, remoteKeys } = window.encryption;
      const remote = () => window.remoteAt({ http });
      const keys = Array.from({ length: 3 }, (_, nth) => new Uint8Array(32).fill(nth));
      const key = (epoch: number) => importKey(keys[epoch] as Uint8Array);
      const link = async (name: string, options: object) => {
        const db = await window.openStore(name);
        return {
          db,
          link: await db.connect(window.bucket(remote(), { probe: false, ...options })),
        };
      };
      const a = await link('one', { encryption: remoteKeys({ place: 'room', keys: key }) });
      // Enough for packs of several frames, which are long when deflated.
      const rows = Array.from({ length: 40_000 }, (_, nth) => ({
        id: `row/${String(nth).padStart(6, '0')}`,
        secret: crypto.randomUUID() + crypto.randomUUID(),
      }));
      await a.db.putMany(rows, { key: '/id' });
      await a.link.push();
      const b = await link('two', { encryption: remoteKeys({ place: 'room', keys: key }) });
      const cloned = await b.link.pull();
      await b.db.put('more', 1);
      await b.link.push();
      await a.link.pull();
      const code = (call: Promise<unknown>) =>
        call.then(
          () => 'none',
          (cause) => cause.detail ?? cause.code,
        );
      const none = await link('three', {});
      const other = await link('four', {
        encryption: remoteKeys({
          place: 'room',
          keys: () => passphraseKey('a passphrase', 'of this room'),
        }),
      });
      const codes = [await code(none.link.pull()), await code(other.link.pull())];
      // The key is turned.
      const turned = await a.db.connect(
        window.bucket(remote(), {
          probe: false,
          encryption: remoteKeys({ place: 'room', keys: key, epoch: 2 }),
        }),
      );
      await a.db.put('more', 2);
      await turned.push();
      await b.link.pull();
      const equal = a.db.root === b.db.root;
      const values = [await b.db.get('more'), await b.db.count()];
      for (const { db } of [a, b, none, other]) await db.close();
      return { cloned: cloned.rows, codes, equal, values };
    }, server.url);
    expect(found).toEqual({
      cloned: 40_000,
      codes: ['wrong-key', 'wrong-key'],
      equal: true,
      values: [2, 40_001],
    });
    const packs = await inner.list('p/');
    const kinds = new Set<string>();
    for (const { name } of packs) {
      const bytes = Buffer.from((await inner.get(name)) as Uint8Array);
      kinds.add(bytes.toString('latin1', 0, 4));
      // Random bytes have any four letters now and then.
      expect(bytes.toString('latin1')).not.toMatch(/row\/0\d{5}/);
    }
    // Packs, internal nodes, directories.
    expect([...kinds].sort()).toEqual(['HDGI', 'HDGN', 'HDGP']);
  } finally {
    await server.close();
  }
});
