/** A remote whose heads are signed, by the WebCrypto of each engine. */

import { serveRemote } from '@hedgerow/server';
import { signedRemote } from 'hedgerow/encryption';
import { memoryRemote } from 'hedgerow/sync';
import { expect, test } from './fixtures.js';

/** Test 3 of RFC 8032. */
const PRIVATE = 'c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7';
const PUBLIC = 'fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025';

test('a signed remote needs the private key to write, and other writers are refused', async ({
  persistentPage,
}) => {
  const inner = memoryRemote();
  const server = await serveRemote(inner, { origin: '*' });
  const publicKey = Buffer.from(PUBLIC, 'hex');
  try {
    const { page } = persistentPage;
    await page.goto('/remote.html');
    await page.waitForFunction(() => window.openStore !== undefined);
    const args = { http: server.url, privateHex: PRIVATE, publicHex: PUBLIC };
    const found = await page.evaluate(async ({ http, privateHex, publicHex }) => {
      const { signedRemote, signingKeys } = window.encryption;
      const unhex = (text: string) =>
        Uint8Array.from(text.match(/../g) ?? [], (two) => Number.parseInt(two, 16));
      const code = (call: Promise<unknown>) =>
        call.then(
          () => 'none',
          (cause) => cause.detail ?? cause.code,
        );
      const remote = () => window.remoteAt({ http });
      const link = async (name: string, given: Parameters<typeof signedRemote>[1]) => {
        const db = await window.openStore(name);
        return { db, link: await db.connect(window.bucket(signedRemote(remote(), given))) };
      };
      const reader = await link('reader', { publicKey: unhex(publicHex) });
      const hasKeys = await crypto.subtle.generateKey('Ed25519', false, ['sign', 'verify']).then(
        () => true,
        () => false,
      );
      if (!hasKeys) {
        const codes = [await code(signingKeys(unhex(privateHex))), await code(reader.link.pull())];
        await reader.db.close();
        return { hasKeys, codes };
      }
      const keys = await signingKeys(unhex(privateHex));
      const isSame = keys.publicKey.toString() === unhex(publicHex).toString();
      // As IndexedDB keeps it, and a worker gets it.
      const privateKey = structuredClone(keys.privateKey);
      const isHidden = await code(crypto.subtle.exportKey('pkcs8', privateKey));
      const writer = await link('writer', { publicKey: keys.publicKey, privateKey });
      const rows = Array.from({ length: 10_000 }, (_, nth) => ({ id: `row/${nth}`, nth }));
      await writer.db.putMany(rows, { key: '/id' });
      await writer.link.push();
      await reader.link.pull();
      await writer.db.put('more', 1);
      await writer.link.push();
      await reader.link.pull();
      const equal = writer.db.root === reader.db.root;
      await reader.db.put('mine', 1);
      const refused = await code(reader.link.push());
      const { length } = rows;
      const counts = [(await writer.db.count()) - length, (await reader.db.count()) - length];
      for (const { db } of [writer, reader]) await db.close();
      return { hasKeys, isSame, isHidden: isHidden !== 'none', equal, refused, counts };
    }, args);
    test.info().annotations.push({ type: 'Ed25519', description: String(found.hasKeys) });
    if (!found.hasKeys) {
      expect(found).toEqual({ hasKeys: false, codes: ['unsupported', 'unsupported'] });
      expect(await inner.list('h/')).toEqual([]);
      return;
    }
    expect(found).toEqual({
      ...{ hasKeys: true, isSame: true, isHidden: true, equal: true },
      ...{ refused: 'unauthorized', counts: [1, 2] },
    });
    // Node accepts what the engine has signed, and the engine refuses later changes.
    const head = await inner.readHead('main');
    if (head === undefined) throw new Error('there is no head');
    const { bytes } = (await signedRemote(inner, { publicKey }).readHead('main')) ?? {};
    expect(bytes).toEqual(head.bytes.slice(0, -72));
    const changed = head.bytes.with(60, (head.bytes[60] as number) ^ 1);
    await inner.swapHead('main', head.token, changed);
    const error = await page.evaluate(async ({ http, publicHex }) => {
      const publicKey = Uint8Array.from(publicHex.match(/../g) ?? [], (two) =>
        Number.parseInt(two, 16),
      );
      const db = await window.openStore('late');
      const remote = window.encryption.signedRemote(window.remoteAt({ http }), { publicKey });
      const link = await db.connect(window.bucket(remote));
      const code = await link.pull().then(
        () => 'none',
        (cause) => cause.detail ?? cause.code,
      );
      const count = await db.count();
      await db.close();
      return [code, count];
    }, args);
    expect(error).toEqual(['data', 0]);
  } finally {
    await server.close();
  }
});
