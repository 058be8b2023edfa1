/**
 * Seals the frames of one object with AES-256-GCM. The nonce of a frame is its number, so a key seals each number at
 * most once: each object has its own key, made from its salt (`hkdf.ts`).
 */

import { subtle, toUnsharedBytes } from './web-crypto.js';

/** The bytes that sealing adds to a frame. */
export const TAG_BYTES = 16;
const NONCE_BYTES = 12;
/** The block size of AES. */
export const BLOCK_BYTES = 16;

/** Makes the key of the frames of one object. It cannot be read out again. */
export function frameKey(rawKeyBytes: Uint8Array): Promise<CryptoKey> {
  const usages = ['encrypt', 'decrypt'] as const;
  return subtle().importKey('raw', toUnsharedBytes(rawKeyBytes), 'AES-GCM', false, [...usages]);
}

/** Makes the same key, for parts of sealed frames. */
export function partKey(rawKeyBytes: Uint8Array): Promise<CryptoKey> {
  return subtle().importKey('raw', toUnsharedBytes(rawKeyBytes), 'AES-CTR', false, ['decrypt']);
}

/** Makes a nonce of a number: little-endian, as all numbers in formats here. */
function nonceOf(number: number): Uint8Array {
  const nonceBytes = new Uint8Array(NONCE_BYTES);
  new DataView(nonceBytes.buffer).setUint32(0, number, true);
  return nonceBytes;
}

function paramsOf(nonceBytes: Uint8Array, contextBytes: Uint8Array): AesGcmParams {
  return {
    name: 'AES-GCM',
    iv: toUnsharedBytes(nonceBytes),
    additionalData: toUnsharedBytes(contextBytes),
  };
}

/** Seals frame `number`, below 2^32, of an object; `openFrame` needs the same `contextBytes`. */
export function sealFrame(
  key: CryptoKey,
  number: number,
  contextBytes: Uint8Array,
  plainBytes: Uint8Array,
): Promise<Uint8Array> {
  return seal(key, nonceOf(number), contextBytes, plainBytes);
}

/** Opens a frame of `sealFrame`; resolves to `undefined` if the key, number, context or bytes differ. */
export function openFrame(
  key: CryptoKey,
  number: number,
  contextBytes: Uint8Array,
  sealedBytes: Uint8Array,
): Promise<Uint8Array | undefined> {
  return unseal(key, nonceOf(number), contextBytes, sealedBytes);
}

/**
 * Decrypts a part of a frame, from a multiple of `BLOCK_BYTES` on. It does not authenticate it: callers have a hash of
 * the plain bytes. GCM encrypts as CTR does, its first block with a count of 2 (NIST SP 800-38D, 7.1).
 */
export async function decryptPart(
  key: CryptoKey,
  number: number,
  from: number,
  sealedBytes: Uint8Array,
): Promise<Uint8Array> {
  const counter = new Uint8Array(BLOCK_BYTES);
  counter.set(nonceOf(number));
  new DataView(counter.buffer).setUint32(NONCE_BYTES, 2 + from / BLOCK_BYTES);
  const params = { name: 'AES-CTR', counter, length: 32 };
  return new Uint8Array(await subtle().decrypt(params, key, toUnsharedBytes(sealedBytes)));
}

/** Seals with AES-GCM and a nonce of 12 bytes, which no other call with this key may have. */
export async function seal(
  key: CryptoKey,
  nonceBytes: Uint8Array,
  contextBytes: Uint8Array,
  plainBytes: Uint8Array,
): Promise<Uint8Array> {
  const params = paramsOf(nonceBytes, contextBytes);
  return new Uint8Array(await subtle().encrypt(params, key, toUnsharedBytes(plainBytes)));
}

/** Opens what `seal` made with the same key, nonce and context; resolves to `undefined` for other bytes. */
export async function unseal(
  key: CryptoKey,
  nonceBytes: Uint8Array,
  contextBytes: Uint8Array,
  sealedBytes: Uint8Array,
): Promise<Uint8Array | undefined> {
  const crypto = subtle();
  if (sealedBytes.length < TAG_BYTES) return undefined;
  const params = paramsOf(nonceBytes, contextBytes);
  try {
    return new Uint8Array(await crypto.decrypt(params, key, toUnsharedBytes(sealedBytes)));
  } catch (cause) {
    // An `OperationError` means that the bytes are not authentic. Other errors are faults of the code or platform.
    if ((cause as Error).name === 'OperationError') return undefined;
    throw cause;
  }
}
