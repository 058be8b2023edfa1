/** Signs heads: a reader of a remote can check that a holder of the private key wrote what it shows. */

import { anything, mandatory, type OptionsOf, optionsOf } from '../../base/check-options.js';
import { HedgerowError, kindOfError } from '../../base/errors.js';
import { LONE_SURROGATE } from '../../base/key.js';
import { isList } from '../../base/runtime-type-checks.js';
import { checkedRemote } from '../remote/checked-remote.js';
import { invalidRemote } from '../remote/format/field-codec.js';
import {
  hashedBytes,
  readSigned,
  signedBytes,
  withSignature,
} from '../remote/format/signed-head.js';
import type { ReadHeadOptions, Remote, RemoteHead } from '../remote/remote.js';
import {
  isSignatureOf,
  type PrivateKey,
  type PublicKey,
  sha512,
  sign,
  signingKey,
  signingKeyOf,
  verifyingKey,
} from './ed25519.js';

const SIGNED_REMOTE_OPTIONS = {
  /** The key that checks heads. Several while a key is turned: one of them signs a head. */
  publicKey: mandatory(anything<PublicKey | readonly PublicKey[]>()),
  /** The key that signs heads, for writers. Without it every write rejects with `unauthorized`. */
  privateKey: anything<PrivateKey>(),
  /**
   * The app's name for the remote, such as the id of a room; empty by default. Writers and readers give the same, and a
   * head that was signed for another place is refused: needed where one key signs several remotes.
   */
  place: anything<string>(),
};

/** The keys of a remote with signed heads. */
export interface SignedRemoteOptions extends OptionsOf<typeof SIGNED_REMOTE_OPTIONS> {}

/**
 * Returns `inner` with signed heads: `readHead` takes only heads that a key of `publicKey` signed for this branch and
 * `place`; `swapHead` signs. A head names all other objects by their hashes. A head without such a signature is
 * `remote/data`, after a second request past all caches. Where WebCrypto has no Ed25519, heads and writes are
 * `unsupported`. Throws `invalid-argument`.
 */
export function signedRemote(inner: Remote, options: SignedRemoteOptions): Remote {
  const keys = new HeadKeys(options);
  const remote = checkedRemote('signedRemote', inner);

  async function readHead(branch: string, how?: ReadHeadOptions): Promise<RemoteHead | undefined> {
    await keys.ready();
    const head = await remote.readHead(branch, how);
    return head && verifyHead(branch, head, how);
  }

  /** Resolves to the head without its signature. */
  async function verifyHead(
    branch: string,
    head: RemoteHead,
    how?: ReadHeadOptions,
  ): Promise<RemoteHead | undefined> {
    try {
      return { ...head, bytes: await keys.openSignedHead(branch, head.bytes) };
    } catch (cause) {
      const isInvalid = kindOfError(cause) === 'remote/data';
      // A cache on the way may have a damaged head.
      if (isInvalid && !how?.pastCaches) return readHead(branch, { ...how, pastCaches: true });
      throw cause;
    }
  }

  return checkedRemote('signedRemote', {
    readHead,
    async readHeadSince(branch, token, how) {
      await keys.ready();
      const head = await remote.readHeadSince(branch, token, how);
      return typeof head === 'object' ? verifyHead(branch, head, how) : head;
    },
    async swapHead(branch, token, bytes, how) {
      const signed = await keys.signHead(branch, bytes);
      const swap = await remote.swapHead(branch, token, signed, how);
      if (swap.state !== 'lost' || swap.head === undefined) return swap;
      return { state: 'lost', head: await verifyHead(branch, swap.head, how) };
    },
    get: (name, range, how) => remote.get(name, range, how),
    async put(name, bytes, how) {
      await keys.requireSigningKey();
      return remote.put(name, bytes, how);
    },
    async remove(names, how) {
      await keys.requireSigningKey();
      return remote.remove(names, how);
    },
    list: (prefix, how) => remote.list(prefix, how),
  });
}

/** The keys as WebCrypto has them. */
interface ImportedHeadKeys {
  readonly verifying: readonly CryptoKey[];
  readonly signing: CryptoKey | undefined;
}

class HeadKeys {
  readonly #publicKeys: readonly PublicKey[];
  readonly #privateKey: PrivateKey | undefined;
  readonly #place: string;
  #imported: Promise<ImportedHeadKeys> | undefined;

  constructor(options: SignedRemoteOptions) {
    const {
      publicKey,
      privateKey,
      place = '',
    } = optionsOf('signedRemote', options, SIGNED_REMOTE_OPTIONS);
    const all = isList(publicKey) && Array.isArray(publicKey) ? publicKey : [publicKey];
    this.#publicKeys = all.map((key) => signingKeyOf('signedRemote: publicKey', key, 'verify'));
    if (privateKey !== undefined) {
      this.#privateKey = signingKeyOf('signedRemote: privateKey', privateKey, 'sign');
    }
    if (all.length === 0 || typeof place !== 'string' || LONE_SURROGATE.test(place)) {
      const message = 'signedRemote: publicKey has at least one key, place is well-formed text';
      throw new HedgerowError('invalid-argument', message);
    }
    this.#place = place;
  }

  /** Imports the keys, before any request. */
  ready(): Promise<ImportedHeadKeys> {
    this.#imported ??= this.#import();
    return this.#imported;
  }

  async #import(): Promise<ImportedHeadKeys> {
    const verifying = await Promise.all(this.#publicKeys.map(verifyingKey));
    return { verifying, signing: this.#privateKey && (await signingKey(this.#privateKey)) };
  }

  /** Resolves to the private key, before any write. Rejects with `unauthorized` without one. */
  async requireSigningKey(): Promise<CryptoKey> {
    const { signing } = await this.ready();
    if (signing !== undefined) return signing;
    const message = 'signedRemote was given no privateKey: this remote can be read, not written';
    throw new HedgerowError('unauthorized', message);
  }

  /** Adds a signature to a head. */
  async signHead(branch: string, bytes: Uint8Array): Promise<Uint8Array> {
    // A copy: the caller may change the bytes during this call.
    const headBytes = bytes.slice();
    const key = await this.requireSigningKey();
    const message = await this.#messageOf(branch, headBytes);
    const signatureBytes = await sign(key, message);
    if (await this.#isOurs(signatureBytes, message)) {
      return withSignature({ headBytes, signatureBytes });
    }
    const what = 'signedRemote: privateKey belongs to no publicKey: no reader would take a head';
    throw new HedgerowError('invalid-argument', what);
  }

  /** Returns the bytes of a signed head. Throws `remote/data`, or `newer-version/format`. */
  async openSignedHead(branch: string, bytes: Uint8Array): Promise<Uint8Array> {
    const { headBytes, signatureBytes } = readSigned(bytes);
    const message = await this.#messageOf(branch, headBytes);
    if (await this.#isOurs(signatureBytes, message)) return headBytes;
    const what = 'it was changed, or signed with another key, or for another branch or place';
    throw invalidRemote('head', what, headBytes.length);
  }

  async #messageOf(branch: string, headBytes: Uint8Array): Promise<Uint8Array> {
    return signedBytes(await sha512(hashedBytes(this.#place, branch, headBytes)));
  }

  async #isOurs(signatureBytes: Uint8Array, message: Uint8Array): Promise<boolean> {
    const { verifying } = await this.ready();
    for (const key of verifying) if (await isSignatureOf(key, signatureBytes, message)) return true;
    return false;
  }
}
