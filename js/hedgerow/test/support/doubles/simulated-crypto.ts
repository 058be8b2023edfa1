/**
 * The part of WebCrypto that encryption uses, by Node's own functions: each answers in the turn of its call, so a seed
 * determines all that follows. The platform's WebCrypto answers from other threads.
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from 'node:crypto';

interface Key {
  readonly bytes: Uint8Array;
  readonly algorithm: { readonly name: string };
  readonly usages: readonly string[];
}
interface Params {
  readonly name: string;
  readonly counter: Uint8Array;
  readonly iv: Uint8Array;
  readonly additionalData: Uint8Array;
  readonly salt: Uint8Array;
  readonly info: Uint8Array;
}

const TAG = 16;
const own = (bytes: Uint8Array | ArrayBuffer) => new Uint8Array(bytes).buffer;

const nameOf = (algorithm: string | Key['algorithm']) =>
  typeof algorithm === 'string' ? algorithm : algorithm.name;

const platform = globalThis.crypto.subtle;

const subtle = {
  async importKey(...call: Parameters<SubtleCrypto['importKey']>) {
    const [, bytes, algorithm] = call as unknown as [string, Uint8Array, string];
    const name = nameOf(algorithm);
    // The platform makes the signatures.
    if (!/^(AES-(GCM|CTR)|HMAC|HKDF)$/.test(name)) return platform.importKey(...call);
    return { bytes: new Uint8Array(bytes), algorithm: { name }, usages: ['deriveBits'] };
  },
  async deriveBits({ salt, info }: Params, key: Key, bits: number) {
    return own(hkdfSync('sha256', key.bytes, salt, info, bits / 8));
  },
  async sign(algorithm: string, key: Key & CryptoKey, bytes: Uint8Array<ArrayBuffer>) {
    if (key.bytes === undefined) return platform.sign(algorithm, key, bytes);
    return own(createHmac('sha256', key.bytes).update(bytes).digest());
  },
  async encrypt({ iv, additionalData }: Params, key: Key, bytes: Uint8Array) {
    const cipher = createCipheriv('aes-256-gcm', key.bytes, iv).setAAD(additionalData);
    return own(Buffer.concat([cipher.update(bytes), cipher.final(), cipher.getAuthTag()]));
  },
  async decrypt({ name, counter, iv, additionalData }: Params, key: Key, bytes: Uint8Array) {
    if (name === 'AES-CTR') {
      const stream = createDecipheriv('aes-256-ctr', key.bytes, counter);
      return own(Buffer.concat([stream.update(bytes), stream.final()]));
    }
    const end = bytes.length - TAG;
    const cipher = createDecipheriv('aes-256-gcm', key.bytes, iv, { authTagLength: TAG })
      .setAAD(additionalData)
      .setAuthTag(bytes.subarray(end));
    try {
      return own(Buffer.concat([cipher.update(bytes.subarray(0, end)), cipher.final()]));
    } catch (cause) {
      throw new DOMException(String(cause), 'OperationError');
    }
  },
};

/** The platform's WebCrypto provides all other members. */
const value = new Proxy(platform, {
  get(_, name: keyof SubtleCrypto) {
    const own = subtle[name as keyof typeof subtle];
    return own ?? platform[name]?.bind(platform);
  },
});

/** Puts it in the place of the platform's; returns a function that undoes this. */
export function simulateCrypto(): () => void {
  Object.defineProperty(globalThis.crypto, 'subtle', { value, configurable: true });
  return () => {
    Reflect.deleteProperty(globalThis.crypto, 'subtle');
  };
}
