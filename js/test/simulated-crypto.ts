/**
 * The part of WebCrypto that encryption uses, by Node's own functions: each answers in the turn in which it is called, so
 * that what follows is as a seed has it. That of the platform answers from other threads.
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from 'node:crypto';

interface Key {
  readonly bytes: Uint8Array;
  readonly algorithm: { readonly name: string };
  readonly usages: readonly string[];
}
interface Params {
  readonly iv: Uint8Array;
  readonly additionalData: Uint8Array;
  readonly salt: Uint8Array;
  readonly info: Uint8Array;
}

const TAG = 16;
const own = (bytes: Uint8Array | ArrayBuffer) => new Uint8Array(bytes).buffer;

const subtle = {
  async importKey(_: string, bytes: Uint8Array, algorithm: string | Key['algorithm']) {
    const name = typeof algorithm === 'string' ? algorithm : algorithm.name;
    return { bytes: new Uint8Array(bytes), algorithm: { name }, usages: ['deriveBits'] };
  },
  async deriveBits({ salt, info }: Params, key: Key, bits: number) {
    return own(hkdfSync('sha256', key.bytes, salt, info, bits / 8));
  },
  async sign(_: string, key: Key, bytes: Uint8Array) {
    return own(createHmac('sha256', key.bytes).update(bytes).digest());
  },
  async encrypt({ iv, additionalData }: Params, key: Key, bytes: Uint8Array) {
    const cipher = createCipheriv('aes-256-gcm', key.bytes, iv).setAAD(additionalData);
    return own(Buffer.concat([cipher.update(bytes), cipher.final(), cipher.getAuthTag()]));
  },
  async decrypt({ iv, additionalData }: Params, key: Key, bytes: Uint8Array) {
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

/** Puts it in the place of the platform's; returns how to undo that. */
export function simulateCrypto(): () => void {
  Object.defineProperty(globalThis.crypto, 'subtle', { value: subtle, configurable: true });
  return () => {
    Reflect.deleteProperty(globalThis.crypto, 'subtle');
  };
}
