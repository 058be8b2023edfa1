/**
 * Encrypts remotes: suite 1 of their objects. Each object has its own key, from the key of its epoch and its random
 * salt. A part is padded, so that its length reveals less, and sealed with its number as the nonce.
 */

import { sameBytes } from '../../base/bytes.js';
import { anything, mandatory, type OptionsOf, optionsOf } from '../../base/check-options.js';
import { HedgerowError, type RemoteKind } from '../../base/errors.js';
import { LONE_SURROGATE, utf8Length } from '../../base/key.js';
import { askApp } from '../remote/ask-app-credentials.js';
import type { ObjectSeal, RemoteEncryption, Scope, Suite } from '../remote/format/cipher-suite.js';
import {
  CHECK_BYTES,
  ENVELOPE_BYTES,
  envelopeOf,
  type ObjectEnvelope,
  SEALED_SUITE,
} from '../remote/format/envelope.js';
import { frameKey, openFrame, sealFrame, TAG_BYTES } from './aead.js';
import { deriveBytes, KEY_BYTES, type RootKey, rootKey } from './hkdf.js';
import { padBytes, paddedLength, unpadBytes } from './padding.js';

/** The highest epoch: envelopes have 16 bits for it. */
const MAX_EPOCH = 0xffff;

/** The longest place, in bytes: platforms limit the input of HKDF. */
const MAX_PLACE_BYTES = 256;

/** A frame is one of many: longer padding of each would add up to more than 3 % of a clone. */
const PADDED_TO: Partial<Record<RemoteKind, number>> = { pack: 256, nodes: 256 };
const USUAL = 1024;

const REMOTE_KEYS_OPTIONS = {
  /**
   * Returns the key of an epoch, counted from 1: 32 random bytes, or a key of `importKey` or `passphraseKey`. Called
   * once for each epoch. `undefined` if this device lacks the key: then the call rejects with `wrong-key`.
   */
  keys: mandatory(
    anything<(epoch: number) => RootKey | undefined | Promise<RootKey | undefined>>(),
  ),
  /**
   * The app's name for the remote, such as the id of a room: text of 1 to 256 bytes. All devices give the same, for
   * ever. No object of one place can be read in another, even if both have the same key.
   */
  place: mandatory(anything<string>()),
  /**
   * The epoch of writes, from 1 to 65,535; 1 by default. A higher one than the remote has turns the key at the next
   * push: later pushes can be read with the new key only. If the remote is at a later epoch, writes take that one.
   */
  epoch: anything<number>(),
};

/** The keys of a remote. */
export interface RemoteKeysOptions extends OptionsOf<typeof REMOTE_KEYS_OPTIONS> {}

/**
 * Returns the encryption for `db.connect()` and `clone()`. One object may serve all connections to a remote. Without
 * the keys, the data at the remote is lost.
 */
export function remoteKeys(options: RemoteKeysOptions): RemoteEncryption {
  const { keys, place, epoch = 1 } = optionsOf('remoteKeys', options, REMOTE_KEYS_OPTIONS);
  if (typeof keys !== 'function') {
    throw new HedgerowError('invalid-argument', 'remoteKeys: keys must be a function of an epoch');
  }
  if (!isPlace(place)) {
    const message = `remoteKeys: place is well-formed text of 1 to ${MAX_PLACE_BYTES} bytes`;
    throw new HedgerowError('invalid-argument', message);
  }
  if (!Number.isInteger(epoch) || epoch < 1 || epoch > MAX_EPOCH) {
    throw new HedgerowError('invalid-argument', `remoteKeys: epoch is from 1 to ${MAX_EPOCH}`);
  }
  // `open` calls this member of its `encryption`.
  const over = (): never => {
    const message = 'remoteKeys() is for remotes: open takes what atRest() returns';
    throw new HedgerowError('invalid-argument', message);
  };
  const encryption = { suite: suiteOf(keyring(keys), place), epoch, over };
  return encryption;
}

function isPlace(place: unknown): place is string {
  if (typeof place !== 'string' || LONE_SURROGATE.test(place)) return false;
  const length = utf8Length(place);
  return length >= 1 && length <= MAX_PLACE_BYTES;
}

type KeyOf = (epoch: number) => Promise<CryptoKey>;

/** Keeps the keys that the app gave, and asks again after a failure. */
function keyring(keys: RemoteKeysOptions['keys']): KeyOf {
  const known = new Map<number, Promise<CryptoKey>>();
  const ask = async (epoch: number) => {
    const key = await askApp('keys', () => keys(epoch), undefined);
    if (key !== undefined) return rootKey(key);
    throw new HedgerowError('wrong-key', `there is no key of epoch ${epoch}: keys() returned none`);
  };
  return (epoch) => {
    const key = known.get(epoch) ?? ask(epoch);
    known.set(epoch, key);
    key.catch(() => known.delete(epoch));
    return key;
  };
}

/** The key of one object, made of the key of its epoch. */
interface ObjectKey {
  readonly key: CryptoKey;
  readonly checkBytes: Uint8Array;
}

async function objectKey(
  keyOf: KeyOf,
  place: string,
  object: RemoteKind,
  epoch: number,
  saltBytes: Uint8Array,
): Promise<ObjectKey> {
  const info = `hedgerow remote ${object} of ${place}`;
  const bytes = await deriveBytes(await keyOf(epoch), saltBytes, info, KEY_BYTES + CHECK_BYTES);
  const key = await frameKey(bytes.subarray(0, KEY_BYTES));
  return { key, checkBytes: bytes.subarray(KEY_BYTES) };
}

function suiteOf(keyOf: KeyOf, place: string): Suite {
  const [, envelopeLength] = ENVELOPE_BYTES;
  const unitOf = (object: RemoteKind) => PADDED_TO[object] ?? USUAL;
  const sealWith = (
    object: RemoteKind,
    key: CryptoKey,
    envelopeBytes: Uint8Array,
    { contextBytes }: Scope,
  ): ObjectSeal => {
    const context = (number: number, parts: number) =>
      contextOf(envelopeBytes, number, parts, contextBytes);
    const unit = unitOf(object);
    return {
      envelopeBytes,
      close: (number, parts, plainBytes) =>
        sealFrame(key, number, context(number, parts), padBytes(plainBytes, unit)),
      async open(number, parts, closedBytes) {
        const plainBytes = await openFrame(key, number, context(number, parts), closedBytes);
        return plainBytes && unpadBytes(plainBytes, unit);
      },
    };
  };
  return {
    envelopeLength,
    tagLength: TAG_BYTES,
    closedLength: (object, length) => paddedLength(length, unitOf(object)) + TAG_BYTES,
    async toWrite(object, saltBytes, scope) {
      const { key, checkBytes } = await objectKey(keyOf, place, object, scope.epoch, saltBytes);
      const envelopeBytes = envelopeOf(object, saltBytes, scope.epoch, checkBytes);
      return sealWith(object, key, envelopeBytes, scope);
    },
    async toRead(object, envelope, scope) {
      checkSuite(envelope);
      const { epoch, saltBytes } = envelope;
      const { key, checkBytes } = await objectKey(keyOf, place, object, epoch, saltBytes);
      if (sameBytes(checkBytes, envelope.checkBytes)) {
        return sealWith(object, key, envelope.bytes, scope);
      }
      throw new HedgerowError(
        'wrong-key',
        `the key of epoch ${epoch} is not the one of this remote, or this is another place`,
      );
    },
  };
}

function checkSuite({ suite }: ObjectEnvelope): void {
  if (suite === SEALED_SUITE) return;
  const message = 'this remote is not encrypted: leave out `encryption`, or push to a new place';
  throw new HedgerowError('wrong-key', message);
}

/** Makes the context of a part: its object, its number, the number of parts, and where the object belongs. */
function contextOf(
  envelopeBytes: Uint8Array,
  number: number,
  parts: number,
  contextBytes: Uint8Array,
): Uint8Array {
  const { length } = envelopeBytes;
  const bytes = new Uint8Array(length + 8 + contextBytes.length);
  const view = new DataView(bytes.buffer);
  bytes.set(envelopeBytes);
  view.setUint32(length, number, true);
  view.setUint32(length + 4, parts, true);
  bytes.set(contextBytes, length + 8);
  return bytes;
}
