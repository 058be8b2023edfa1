/** AES-256-GCM, HKDF and PBKDF2 by vectors of NIST and Wycheproof; and the errors that callers get. */
import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { hex } from '../../../src/base/hex.js';
import {
  BLOCK_BYTES,
  decryptPart,
  frameKey,
  openFrame,
  partKey,
  seal,
  sealFrame,
  unseal,
} from '../../../src/sync/encryption/aead.js';
import { deriveBytes, generateKey, importKey, rootKey } from '../../../src/sync/encryption/hkdf.js';
import { padBytes, paddedLength, unpadBytes } from '../../../src/sync/encryption/padding.js';
import {
  PASSPHRASE_ROUNDS,
  passphraseKey,
  stretchPassphrase,
} from '../../../src/sync/encryption/passphrase.js';
import { failure } from '../../support/models/store-model.js';
import { random } from '../../support/random.js';
import { unhex } from '../../support/remote-store.js';

function vectorsOf<T>(name: string): T {
  const file = new URL(`../../../../../vectors/crypto/${name}.json`, import.meta.url);
  return JSON.parse(readFileSync(file, 'utf8')) as T;
}

interface Sealed {
  readonly key: string;
  readonly iv: string;
  readonly aad: string;
  readonly msg: string;
  readonly ct: string;
  readonly tag: string;
  readonly result?: 'valid' | 'invalid';
}

const gcm = vectorsOf<{ wycheproof: Sealed[]; nist: Sealed[] }>('aes-256-gcm');
const hkdf = vectorsOf<{
  tests: { ikm: string; salt: string; info: string; size: number; okm: string }[];
}>('hkdf-sha256');
const pbkdf2 = vectorsOf<{
  tests: { password: string; salt: string; iterationCount: number; dkLen: number; dk: string }[];
}>('pbkdf2-sha256');

afterEach(() => {
  vi.unstubAllGlobals();
});

describe('AES-256-GCM', () => {
  const check = async ({ key, iv, aad, msg, ct, tag, result = 'valid' }: Sealed) => {
    const made = await frameKey(unhex(key));
    const [nonce, context] = [unhex(iv), unhex(aad)];
    const opened = await unseal(made, nonce, context, unhex(ct + tag));
    if (result === 'invalid') {
      expect(opened).toBeUndefined();
      return;
    }
    expect(hex(opened as Uint8Array)).toBe(msg);
    expect(hex(await seal(made, nonce, context, unhex(msg)))).toBe(ct + tag);
  };

  it('agrees with Wycheproof', async () => {
    expect(gcm.wycheproof).toHaveLength(66);
    expect(gcm.wycheproof.filter(({ result }) => result === 'invalid')).toHaveLength(27);
    for (const one of gcm.wycheproof) await check(one);
  });

  it('agrees with NIST', async () => {
    expect(gcm.nist).toHaveLength(25);
    for (const one of gcm.nist) await check(one);
  });

  it('uses the frame number as its nonce, little-endian', async () => {
    const key = await frameKey(random(1).bytes(32));
    const [context, plain] = [random(2).bytes(9), random(3).bytes(100)];
    for (const [number, nonce] of [
      [0, '000000000000000000000000'],
      [0x0102_0304, '040302010000000000000000'],
      [0xffff_ffff, 'ffffffff0000000000000000'],
    ] as const) {
      const sealed = await sealFrame(key, number, context, plain);
      expect(sealed).toEqual(await seal(key, unhex(nonce), context, plain));
      expect(await openFrame(key, number, context, sealed)).toEqual(plain);
      expect(await openFrame(key, number ^ 1, context, sealed)).toBeUndefined();
    }
  });

  it('can be read in parts from any block on', async () => {
    const from = random(6);
    const raw = from.bytes(32);
    const [frames, parts] = await Promise.all([frameKey(raw), partKey(raw)]);
    for (let round = 0; round < 200; round++) {
      const plain = from.bytes(1 + from.below(from.pick([20, 300, 70_000])));
      const number = from.pick([0, 1, 77, 0xffff_ffff]);
      const sealed = await sealFrame(frames, number, from.bytes(5), plain);
      const start = BLOCK_BYTES * from.below(Math.ceil(plain.length / BLOCK_BYTES));
      const end = start + 1 + from.below(plain.length - start);
      const part = await decryptPart(parts, number, start, sealed.subarray(start, end));
      expect(part).toEqual(plain.slice(start, end));
    }
  });

  it('accepts bytes of shared memory', async () => {
    const key = await frameKey(random(1).bytes(32));
    const shared = new Uint8Array(new SharedArrayBuffer(40));
    shared.set(random(4).bytes(40));
    const sealed = await sealFrame(key, 1, shared, shared);
    expect(await openFrame(key, 1, shared, sealed)).toEqual(new Uint8Array(shared));
  });

  it('opens no bytes that are too short for a seal', async () => {
    const key = await frameKey(random(1).bytes(32));
    for (let length = 0; length < 17; length++) {
      const bytes = new Uint8Array(length);
      expect(await openFrame(key, 0, bytes, bytes)).toBeUndefined();
    }
  });
});

describe('HKDF-SHA256', () => {
  it('agrees with Wycheproof and RFC 5869', async () => {
    expect(hkdf.tests).toHaveLength(39);
    for (const { ikm, salt, info, size, okm } of hkdf.tests) {
      const bytes = Uint8Array.from(unhex(ikm));
      const key = await crypto.subtle.importKey('raw', bytes, 'HKDF', false, ['deriveBits']);
      expect(hex(await deriveBytes(key, unhex(salt), unhex(info), size))).toBe(okm);
    }
  });

  it('distinguishes keys, salts and uses', async () => {
    const keys = [await importKey(random(1).bytes(32)), await importKey(random(2).bytes(32))];
    const seen = new Set<string>();
    for (const key of keys) {
      for (const salt of [random(3).bytes(16), random(4).bytes(16)]) {
        for (const info of ['one', 'other']) seen.add(hex(await deriveBytes(key, salt, info, 32)));
      }
    }
    expect(seen.size).toBe(8);
  });
});

describe('a key', () => {
  it('is 32 bytes, or a CryptoKey for HKDF', async () => {
    const bytes = generateKey();
    expect(bytes).toHaveLength(32);
    expect(bytes).not.toEqual(generateKey());
    const key = await importKey(bytes);
    expect(await rootKey(key)).toBe(key);
    const salt = random(1).bytes(16);
    expect(await deriveBytes(await rootKey(bytes), salt, 'x', 9)).toEqual(
      await deriveBytes(key, salt, 'x', 9),
    );
    await expect(crypto.subtle.exportKey('raw', key)).rejects.toThrow();
    const aes = await frameKey(bytes);
    const unfit = await crypto.subtle.importKey('raw', Uint8Array.from(bytes), 'HKDF', false, [
      'deriveKey',
    ]);
    for (const wrong of [new Uint8Array(31), new Uint8Array(), aes, unfit, 'key', null, {}]) {
      await expect(rootKey(wrong as never)).rejects.toEqual(failure('invalid-argument'));
    }
    await expect(importKey('key' as never)).rejects.toEqual(failure('invalid-argument'));
  });

  it('cannot be made without WebCrypto', async () => {
    vi.stubGlobal('crypto', { getRandomValues: () => {} });
    const error = await importKey(new Uint8Array(32)).catch((cause) => cause);
    expect(error).toEqual(failure('unsupported'));
    expect(error.message).toContain('crypto.subtle');
  });
});

describe('a passphrase', () => {
  it('becomes a key by PBKDF2, in agreement with Wycheproof and RFC 7914', async () => {
    expect(pbkdf2.tests.length).toBeGreaterThan(15);
    for (const { password, salt, iterationCount, dkLen, dk } of pbkdf2.tests) {
      const bytes = await stretchPassphrase(unhex(password), unhex(salt), iterationCount, dkLen);
      expect(hex(bytes)).toBe(dk);
    }
  });

  it('is stretched by 600,000 rounds, in its normal form', async () => {
    const salt = 'rooms/7 of example.org';
    const composed = 'caf\u00e9 au lait';
    const decomposed = 'cafe\u0301 au lait';
    const bits = async (text: string, by: string | Uint8Array = salt) =>
      hex(await deriveBytes(await passphraseKey(text, by), new Uint8Array(16), 'test', 32));
    expect(PASSPHRASE_ROUNDS).toBe(600_000);
    const encode = (text: string) => new TextEncoder().encode(text);
    const raw = await stretchPassphrase(encode(composed), encode(salt), 600_000, 32);
    const expected = hex(await deriveBytes(await importKey(raw), new Uint8Array(16), 'test', 32));
    expect(await bits(composed)).toBe(expected);
    expect(await bits(decomposed)).toBe(expected);
    expect(await bits(composed, encode(salt))).toBe(expected);
    expect(await bits(composed, `${salt}!`)).not.toBe(expected);
    expect(await bits(`${composed}!`)).not.toBe(expected);
  });

  it('is refused if it is empty or its salt is short', async () => {
    for (const [text, salt] of [
      ['', 'long enough'],
      ['secret', 'short'],
      ['secret', new Uint8Array(7)],
      [undefined, 'long enough'],
      ['secret', undefined],
    ]) {
      await expect(passphraseKey(text as never, salt as never)).rejects.toEqual(
        failure('invalid-argument'),
      );
    }
  });
});

describe('padding', () => {
  it('comes off, and has one form', () => {
    for (const length of [0, 1, 251, 252, 253, 1019, 1020, 1021, 5000]) {
      for (const unit of [256, 1024]) {
        const bytes = random(length).bytes(length);
        const all = padBytes(bytes, unit);
        expect([all.length % unit, all.length - length < unit + 4]).toEqual([0, true]);
        expect(all.length).toBe(paddedLength(length, unit));
        expect(unpadBytes(all, unit)).toEqual(bytes);
      }
    }
    const all = padBytes(random(1).bytes(100), 256);
    for (const wrong of [
      all.with(255, 1),
      all.with(0, 99),
      all.with(3, 1),
      all.slice(0, -1),
      all.slice(0, 3),
      new Uint8Array(512),
    ]) {
      expect(unpadBytes(wrong, 256)).toBeUndefined();
    }
  });
});
