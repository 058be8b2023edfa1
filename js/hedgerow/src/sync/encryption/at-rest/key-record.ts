/**
 * The record of the data key. A key made from the app's key seals it, so that the app's key can change without a
 * rewrite of the stored data. It lies in refs of 32 bytes each: they can be read before all else, move together, and
 * are in the way of no segment.
 *
 * The ref `main`, whose bytes are random, says that the store is encrypted: without a key, an opening finds an unknown
 * format there, and cannot move the ref. Its generation is the number of the record. The record is stored twice.
 */
import { concatBytes } from '../../../base/bytes.js';
import { crc32 } from '../../../base/crc32.js';
import { HedgerowError } from '../../../base/errors.js';
import { AT_REST_FORMAT, MAX_FORMAT } from '../../../base/limits.js';
import type { Ref, RefDrop, RefMove, WriteBatch } from '../../../storage/segment-store.js';
import { frameKey, openFrame, sealFrame, TAG_BYTES } from '../aead.js';
import { deriveBytes } from '../hkdf.js';
import { PASSPHRASE_ROUNDS } from '../passphrase.js';
import type { AppKey } from './app-key.js';
import { SEALED } from './sealed-refs.js';

const MARKER = 'main';
const PREFIX = 'encryption/';
const PART_BYTES = 32;
const COPIES = ['a', 'b'];
const DATA_KEY_BYTES = 32;
const SALT_BYTES = 32;

/** "HDGK", the version, whether it is of a passphrase, and the rounds of the passphrase; the rest is bound to these. */
const MAGIC = 0x4b47_4448;
const VERSION_AT = 4;
const KIND_AT = 5;
const ROUNDS_AT = 8;
const SALT_AT = 12;
const KEY_AT = SALT_AT + SALT_BYTES;
const CRC_AT = KEY_AT + DATA_KEY_BYTES + TAG_BYTES;
const RECORD_BYTES = CRC_AT + 4;
const PARTS = RECORD_BYTES / PART_BYTES;
const INFO = 'hedgerow at rest 1: data key';
/** Each record is frame 0 of a key of its own. */
const ONLY = 0;

/** The record of a store, as its refs have it. */
export interface KeyRecord {
  /** The generation of the marker; 0 where the marker is missing. */
  readonly number: number;
  /** All refs of records except the marker. */
  readonly parts: readonly Ref[];
  readonly bytes: Uint8Array;
}

/** Returns whether a ref is part of a record, and not of the store. */
export function isKeyRef({ name }: Ref): boolean {
  return name === MARKER || name.startsWith(PREFIX);
}

const namesOf = (number: number, copy: string) =>
  Array.from({ length: PARTS }, (_, part) => `${PREFIX}${number}/${copy}${part}`);

/** Finds the newest record; returns `undefined` if no ref is sealed. Throws `storage` if each is damaged. */
export function recordIn(refs: readonly Ref[]): KeyRecord | undefined {
  const own = new Map(refs.filter(isKeyRef).map((ref) => [ref.name, ref]));
  const marker = own.get(MARKER);
  own.delete(MARKER);
  if (!refs.some(({ format }) => format > MAX_FORMAT)) return undefined;
  const numbers = new Set([...own.keys()].map((name) => Number(name.split('/')[1])));
  for (const number of [...numbers].sort((a, b) => b - a)) {
    for (const copy of COPIES) {
      const parts = namesOf(number, copy).map((name) => own.get(name)?.commitBytes);
      const bytes = concatBytes(parts.map((part) => part ?? new Uint8Array()));
      if (!isWhole(bytes)) continue;
      return { number: marker?.generation ?? 0, parts: [...own.values()], bytes };
    }
  }
  throw new HedgerowError(
    'unavailable/storage',
    'the record of the key of this store is damaged: nothing can be read without it',
  );
}

function isWhole(bytes: Uint8Array): boolean {
  if (bytes.length !== RECORD_BYTES) return false;
  const view = new DataView(bytes.buffer);
  const isSum = view.getUint32(CRC_AT, true) === crc32(bytes.subarray(0, CRC_AT));
  return isSum && view.getUint32(0, true) === MAGIC;
}

/** Makes a new data key. */
export function newDataKey(): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(DATA_KEY_BYTES));
}

/** Makes the bytes of a record, in which the key of the app seals a data key. */
export async function sealRecord(appKey: AppKey, dataKeyBytes: Uint8Array): Promise<Uint8Array> {
  const bytes = new Uint8Array(RECORD_BYTES);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, MAGIC, true);
  view.setUint8(VERSION_AT, AT_REST_FORMAT);
  view.setUint8(KIND_AT, appKey.isPassphrase ? 1 : 0);
  view.setUint32(ROUNDS_AT, appKey.isPassphrase ? PASSPHRASE_ROUNDS : 0, true);
  crypto.getRandomValues(bytes.subarray(SALT_AT, KEY_AT));
  const key = await wrappingKey(appKey, bytes);
  bytes.set(await sealFrame(key, ONLY, bytes.slice(0, KEY_AT), dataKeyBytes), KEY_AT);
  view.setUint32(CRC_AT, crc32(bytes.subarray(0, CRC_AT)), true);
  return bytes;
}

/** Opens the data key of a record; resolves to `undefined` if the app has another key. */
export async function openRecord(
  appKey: AppKey,
  { bytes }: KeyRecord,
): Promise<Uint8Array | undefined> {
  const view = new DataView(bytes.buffer);
  const [version, kind] = [view.getUint8(VERSION_AT), view.getUint8(KIND_AT)];
  const rounds = view.getUint32(ROUNDS_AT, true);
  const isKnown = kind === 0 ? rounds === 0 : kind === 1 && rounds === PASSPHRASE_ROUNDS;
  if (version !== AT_REST_FORMAT || !isKnown) {
    throw new HedgerowError(
      'newer-version/format',
      'encrypted by a newer version of Hedgerow: update the app',
    );
  }
  if (appKey.isPassphrase !== (kind === 1)) return undefined;
  const key = await wrappingKey(appKey, bytes);
  return openFrame(key, ONLY, bytes.slice(0, KEY_AT), bytes.subarray(KEY_AT, CRC_AT));
}

async function wrappingKey(appKey: AppKey, bytes: Uint8Array): Promise<CryptoKey> {
  const saltBytes = bytes.slice(SALT_AT, KEY_AT);
  return frameKey(await deriveBytes(await appKey.root(saltBytes), saltBytes, INFO, DATA_KEY_BYTES));
}

/** Returns the change that puts a record in the place of the one before, if any. */
export function recordChange(bytes: Uint8Array, before?: KeyRecord): WriteBatch {
  const number = (before?.number ?? 0) + 1;
  const move = (name: string, commitBytes: Uint8Array, expected: number): RefMove => {
    return { name, commitBytes, generation: expected + 1, format: SEALED, expected };
  };
  const parts = COPIES.flatMap((copy) =>
    namesOf(number, copy).map((name, part) =>
      move(name, bytes.slice(part * PART_BYTES, (part + 1) * PART_BYTES), 0),
    ),
  );
  const drops = (before?.parts ?? []).map(
    ({ name, generation }): RefDrop => ({ name, expected: generation, isDropped: true }),
  );
  // Random, so that a check whether an own move was made takes no other move for it.
  const markerBytes = crypto.getRandomValues(new Uint8Array(PART_BYTES));
  return {
    segments: [],
    move: move(MARKER, markerBytes, before?.number ?? 0),
    also: [...parts, ...drops],
    // Data that is sealed later is worthless without the record.
    durability: 'strict',
  };
}
