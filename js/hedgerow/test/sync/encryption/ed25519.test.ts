/** Ed25519 signatures of heads, by vectors of others; and their keys. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { hex, unhex } from '../../../src/base/hex.js';
import {
  isSignatureOf,
  sign,
  signingKey,
  verifyingKey,
} from '../../../src/sync/encryption/ed25519.js';
import { generateKey, signingKeys } from '../../../src/sync/encryption/index.js';
import { failure } from '../../support/models/store-model.js';

interface Signature {
  readonly pk: string;
  readonly msg: string;
  readonly sig: string;
}

const ed25519 = JSON.parse(
  readFileSync(new URL('../../../../../vectors/crypto/ed25519.json', import.meta.url), 'utf8'),
) as {
  rfc8032: (Signature & { sk: string })[];
  wycheproof: (Signature & { tcId: number; result: 'valid' | 'invalid' })[];
};

describe('Ed25519', () => {
  it('agrees with RFC 8032', async () => {
    expect(ed25519.rfc8032).toHaveLength(3);
    for (const { sk, pk, msg, sig } of ed25519.rfc8032) {
      const { publicKey, privateKey } = await signingKeys(unhex(sk));
      expect(hex(publicKey)).toBe(pk);
      const verifying = await verifyingKey(publicKey);
      expect(await isSignatureOf(verifying, unhex(sig), unhex(msg))).toBe(true);
      expect(await isSignatureOf(verifying, unhex(sig), new TextEncoder().encode('other'))).toBe(
        false,
      );
      for (const key of [privateKey, await signingKey(unhex(sk))]) {
        // Apple's WebKit adds noise, which readers cannot see.
        expect(await isSignatureOf(verifying, await sign(key, unhex(msg)), unhex(msg))).toBe(true);
        await expect(crypto.subtle.exportKey('pkcs8', key)).rejects.toThrow();
      }
    }
  });

  it('agrees with Wycheproof', async () => {
    expect(ed25519.wycheproof).toHaveLength(151);
    expect(ed25519.wycheproof.filter(({ result }) => result === 'invalid')).toHaveLength(63);
    const wrong: number[] = [];
    for (const { tcId, pk, msg, sig, result } of ed25519.wycheproof) {
      const isRight = await isSignatureOf(await verifyingKey(unhex(pk)), unhex(sig), unhex(msg));
      if (isRight !== (result === 'valid')) wrong.push(tcId);
    }
    expect(wrong).toEqual([]);
  });
});

describe('signingKeys()', () => {
  it('accepts only the keys of generateKey()', async () => {
    const bytes = generateKey();
    const [one, two] = [await signingKeys(bytes), await signingKeys(bytes)];
    expect(one.publicKey).toEqual(two.publicKey);
    expect(one.publicKey).toHaveLength(32);
    const { privateKey } = one;
    const wrong = [undefined, null, 'key', {}, [], privateKey, new Uint8Array(31)];
    for (const key of [...wrong, new Uint8Array(32)]) {
      await expect(signingKeys(key as never)).rejects.toEqual(failure('invalid-argument'));
    }
  });
});
