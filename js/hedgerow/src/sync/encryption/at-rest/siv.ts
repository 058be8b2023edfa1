/**
 * Seals deterministically what storage must find and compare: names and commits of refs. It has the form of SIV
 * (Rogaway and Shrimpton 2006) with HMAC-SHA256: a code of the context and the bytes is stored next to them, and a
 * second key makes their mask from that code. Equal bytes in equal contexts are equal when sealed; they show no more,
 * even if a nonce were used twice.
 */
import { concatBytes, sameBytes } from '../../../base/bytes.js';
import { deriveBytes } from '../hkdf.js';
import { subtle } from '../web-crypto.js';

const MASK_BYTES = 32;

/** The purpose of sealed bytes: equal bytes with another purpose are sealed differently. */
export type SealContext = readonly (string | number)[];

const ENCODER = new TextEncoder();

/** Encodes the parts of a context, so that no part can be taken for another. */
const contextBytes = (context: SealContext) => ENCODER.encode(`${JSON.stringify(context)}\0`);

async function hmacKey(root: CryptoKey, info: string): Promise<CryptoKey> {
  const keyBytes = await deriveBytes(root, new Uint8Array(), info, MASK_BYTES);
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  return subtle().importKey('raw', keyBytes as BufferSource, algorithm, false, ['sign']);
}

async function hmac(key: CryptoKey, bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  return new Uint8Array(await subtle().sign('HMAC', key, bytes));
}

export class Siv {
  readonly #codeKey: CryptoKey;
  readonly #maskKey: CryptoKey;

  private constructor(codeKey: CryptoKey, maskKey: CryptoKey) {
    this.#codeKey = codeKey;
    this.#maskKey = maskKey;
  }

  static async of(root: CryptoKey): Promise<Siv> {
    const keys = ['hedgerow at rest 1: codes', 'hedgerow at rest 1: masks'].map((info) =>
      hmacKey(root, info),
    );
    const [codeKey, maskKey] = (await Promise.all(keys)) as [CryptoKey, CryptoKey];
    return new Siv(codeKey, maskKey);
  }

  /** Computes the code of bytes, all 32 bytes of it. */
  code(context: SealContext, plainBytes: Uint8Array): Promise<Uint8Array> {
    return hmac(this.#codeKey, concatBytes([contextBytes(context), plainBytes]));
  }

  /** Masks bytes by a code, and unmasks them by the same code. */
  async maskBytes(
    context: SealContext,
    codeBytes: Uint8Array,
    bytes: Uint8Array,
  ): Promise<Uint8Array> {
    const start = concatBytes([contextBytes(context), codeBytes]);
    const count = Math.ceil(bytes.length / MASK_BYTES);
    const masks = Array.from({ length: count }, (_, at) =>
      hmac(this.#maskKey, concatBytes([start, new Uint8Array([at, at >> 8])])),
    );
    const mask = concatBytes(await Promise.all(masks));
    return bytes.map((byte, at) => byte ^ (mask[at] as number));
  }

  /** Returns the code, of `codeLength` bytes, and the masked bytes behind it. */
  async seal(
    context: SealContext,
    plainBytes: Uint8Array,
    codeLength: number,
  ): Promise<Uint8Array> {
    const codeBytes = (await this.code(context, plainBytes)).subarray(0, codeLength);
    return concatBytes([codeBytes, await this.maskBytes(context, codeBytes, plainBytes)]);
  }

  /** Returns what `seal` was given; `undefined` if it did not make these bytes in this context. */
  async open(
    context: SealContext,
    sealedBytes: Uint8Array,
    codeLength: number,
  ): Promise<Uint8Array | undefined> {
    const codeBytes = sealedBytes.subarray(0, codeLength);
    const plainBytes = await this.maskBytes(context, codeBytes, sealedBytes.subarray(codeLength));
    const expected = (await this.code(context, plainBytes)).subarray(0, codeLength);
    return sameBytes(expected, codeBytes) ? plainBytes : undefined;
  }
}
