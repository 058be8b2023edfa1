/** Ed25519 by WebCrypto: its keys and signatures, the hash that is signed, and the error of engines without it. */

import { HedgerowError } from '../../base/errors.js';
import { hex } from '../../base/hex.js';
import { isByteArray } from '../../base/is-byte-array.js';
import { isZero } from '../remote/format/field-codec.js';
import { SIGNATURE_BYTES } from '../remote/format/format-limits.js';
import { isKeyFor, KEY_BYTES } from './hkdf.js';
import { subtle, toUnsharedBytes } from './web-crypto.js';

/** The key that checks signatures: 32 bytes, or a `CryptoKey` for Ed25519 with the usage `verify`. */
export type PublicKey = CryptoKey | Uint8Array;

/** The key that signs: 32 random bytes, or a `CryptoKey` for Ed25519 with the usage `sign`. */
export type PrivateKey = CryptoKey | Uint8Array;

/** Two keys that belong together. */
export interface SigningKeys {
  /** 32 bytes, for all readers. */
  readonly publicKey: Uint8Array;
  /** It cannot be read out again, and IndexedDB can store it. */
  readonly privateKey: CryptoKey;
}

const NAME = 'Ed25519';
/** The bytes of PKCS #8 before the 32 bytes of a private key (RFC 8410). */
const PKCS8_FRONT = [48, 46, 2, 1, 0, 48, 5, 6, 3, 43, 101, 112, 4, 34, 4, 32];

/** The order of the group: the second half of a signature is a number below it (RFC 8032, section 5.1.7). */
const ORDER = 0x1000000000000000000000000000000014def9dea2f79cd65812631a5cf5d3edn;

type Usage = 'sign' | 'verify';

/**
 * Returns the key, or a copy of its bytes. Throws `invalid-argument` unless it is for this usage, and for zeros: a text
 * that is no key becomes zeros, and with a public key of zeros some engines accept signatures that anybody can make.
 */
export function signingKeyOf(
  what: string,
  key: CryptoKey | Uint8Array | undefined,
  usage: Usage,
): CryptoKey | Uint8Array {
  if (isByteArray(key)) {
    if (key.length === KEY_BYTES && !isZero(key)) return key.slice();
  } else if (isKeyFor(key, NAME, usage)) return key;
  const expected = `${KEY_BYTES} bytes that are not all zeros, or a CryptoKey for ${NAME}`;
  throw new HedgerowError('invalid-argument', `${what} is ${expected} with the usage ${usage}`);
}

/** Calls WebCrypto. Rejects with `unsupported` where it does not know Ed25519. */
async function ask<T>(call: (crypto: SubtleCrypto) => Promise<T>): Promise<T> {
  try {
    return await call(subtle());
  } catch (cause) {
    const { name } = cause as Error;
    if (name === 'NotSupportedError') {
      const message = `signatures need ${NAME} in crypto.subtle: update the browser, or read without signedRemote`;
      throw new HedgerowError('unsupported', message, { cause });
    }
    if (name !== 'DataError') throw cause;
    throw new HedgerowError('invalid-argument', `the bytes are no key for ${NAME}`, { cause });
  }
}

function importPrivate(keyBytes: Uint8Array, canBeRead: boolean): Promise<CryptoKey> {
  const pkcs8 = Uint8Array.of(...PKCS8_FRONT, ...keyBytes);
  return ask((crypto) => crypto.importKey('pkcs8', pkcs8, NAME, canBeRead, ['sign']));
}

export async function signingKey(key: PrivateKey): Promise<CryptoKey> {
  return isByteArray(key) ? importPrivate(key, false) : key;
}

export async function verifyingKey(key: PublicKey): Promise<CryptoKey> {
  if (!isByteArray(key)) return key;
  return ask((crypto) => crypto.importKey('raw', toUnsharedBytes(key), NAME, false, ['verify']));
}

export async function sha512(bytes: Uint8Array): Promise<Uint8Array> {
  return new Uint8Array(await subtle().digest('SHA-512', toUnsharedBytes(bytes)));
}

export async function sign(key: CryptoKey, bytes: Uint8Array): Promise<Uint8Array> {
  return new Uint8Array(await ask((crypto) => crypto.sign(NAME, key, toUnsharedBytes(bytes))));
}

export async function isSignatureOf(
  key: CryptoKey,
  signatureBytes: Uint8Array,
  bytes: Uint8Array,
): Promise<boolean> {
  // WebKitGTK does not check this: then a signature has several forms, and other engines take only one.
  const scalar = hex(signatureBytes.slice(SIGNATURE_BYTES / 2).reverse());
  if (signatureBytes.length !== SIGNATURE_BYTES || BigInt(`0x${scalar}`) >= ORDER) return false;
  return ask((crypto) =>
    crypto.verify(NAME, key, toUnsharedBytes(signatureBytes), toUnsharedBytes(bytes)),
  );
}

/**
 * Makes the keys of a signed remote from 32 random bytes that are kept secret, such as `generateKey()` makes. The same
 * bytes give the same keys. Rejects with `invalid-argument`, and with `unsupported` where WebCrypto has no Ed25519.
 */
export async function signingKeys(privateBytes: Uint8Array): Promise<SigningKeys> {
  const kept = signingKeyOf('signingKeys: a private key', privateBytes, 'sign');
  if (!isByteArray(kept)) {
    throw new HedgerowError('invalid-argument', `signingKeys takes ${KEY_BYTES} bytes`);
  }
  const readable = await importPrivate(kept, true);
  // Of all forms in which WebCrypto exports a private key, only this one has the public key.
  const { x = '' } = await ask((crypto) => crypto.exportKey('jwk', readable));
  const text = atob(x.replaceAll('-', '+').replaceAll('_', '/'));
  const publicKey = Uint8Array.from(text, (one) => one.charCodeAt(0));
  return { publicKey, privateKey: await importPrivate(kept, false) };
}
