/**
 * The fuzz targets of the objects of a remote, which `scripts/long/fuzz-remote.mjs` runs: each takes any bytes and throws if
 * a decoder misbehaves. A decoder must accept the one encoding of each value and refuse all other bytes by a typed
 * error, without much memory.
 */
import { concatBytes } from '../../src/base/bytes.js';
import type { RemoteKind } from '../../src/base/errors.js';
import { PLAIN_SCOPE, type Scope } from '../../src/sync/remote/format/cipher-suite.js';
import { deflate, type Inflate, inflate } from '../../src/sync/remote/format/deflate.js';
import { decodeDeltaBody, wholeDeltaBody } from '../../src/sync/remote/format/delta-body.js';
import { decodeDeltaObject, encodeDeltaObject } from '../../src/sync/remote/format/delta-object.js';
import {
  decodeMark,
  decodeRecord,
  encodeMark,
  encodeRecord,
} from '../../src/sync/remote/format/garbage-marks.js';
import { decodeHead, encodeHead, headLength } from '../../src/sync/remote/format/head-codec.js';
import { NO_CHECKPOINT } from '../../src/sync/remote/format/head-record.js';
import { joinedTail } from '../../src/sync/remote/format/head-succession.js';
import {
  type Directory,
  decodeDirectory,
  encodeDirectory,
} from '../../src/sync/remote/format/layer-directory.js';
import {
  decodePack,
  type FramedKind,
  type Front,
  frameOpener,
  framesAt,
  readPackTable,
} from '../../src/sync/remote/format/pack-read.js';
import { encodeFrames } from '../../src/sync/remote/format/pack-write.js';
import { decodeBlock, encodeBlock } from '../../src/sync/remote/format/push-history-block.js';
import {
  decodeRepository,
  encodeRepository,
} from '../../src/sync/remote/format/repository-file.js';
import { unwrapObject, wrapObject } from '../../src/sync/remote/format/single-part-object.js';
import { decodeLog, encodeLog } from '../../src/sync/remote/format/tail-log-object.js';
import { decoded, expectSame, inflated, isRefusal, whole } from './decode-in-bounds.js';
import { hash } from './remote-samples.js';
import { SEALED_SCOPE } from './remote-scopes.js';

export { resealed } from './remote-samples.js';

/** Resolves to whether the bytes are an object. */
type Target = (bytes: Uint8Array) => boolean | Promise<boolean>;

const SALT_AT = 8;
const SALT_BYTES = 16;

const saltOf = (bytes: Uint8Array) => bytes.slice(SALT_AT, SALT_AT + SALT_BYTES);

async function repository(bytes: Uint8Array, scope: Scope): Promise<boolean> {
  const found = await decoded(bytes, (by) => decodeRepository(by, scope));
  if (found) expectSame(await encodeRepository(found, scope), bytes, 'encodes');
  return found !== undefined;
}

async function head(bytes: Uint8Array, scope: Scope): Promise<boolean> {
  const found = await decoded(bytes, (by) => decodeHead(by, scope));
  if (found === undefined) return false;
  expectSame(await encodeHead(found, saltOf(bytes), scope), bytes, 'encodes');
  const length = headLength(found, scope);
  if (length !== bytes.length) throw new Error(`${length} bytes`);
  return true;
}

async function history(bytes: Uint8Array, scope: Scope): Promise<boolean> {
  const found = await decoded(bytes, (by) => decodeBlock(by, scope));
  if (found === undefined) return false;
  const again = await encodeBlock(found.pushes, found.saltBytes, hash, scope);
  expectSame(again.bytes, bytes, 'encodes');
  return true;
}

async function log(bytes: Uint8Array, scope: Scope): Promise<boolean> {
  const found = await decoded(bytes, (by) => decodeLog(by, scope));
  if (found === undefined) return false;
  const { entries, saltBytes } = found;
  const again = await encodeLog(entries, saltBytes, hash, scope);
  expectSame(again.bytes, bytes, 'encodes');
  // The head that names the log, together with its successors, accepts it; any other head refuses it by a typed error.
  const { record } = again;
  const last = entries.tail.at(-1);
  if (last === undefined) throw new Error('a log without entries');
  const next = { seq: last.seq + 1, nonceBytes: saltBytes, rows: entries.base };
  const tail = [{ ...next, delta: { kind: 'inline' as const, deltaBytes: saltBytes } }];
  const rows = { logs: [record], base: last.rows, tail, rows: entries.base };
  const checkpoint = NO_CHECKPOINT;
  const rest = { sums: [], app: 0, isCompacting: false, checkpoint, epoch: 0 };
  const ids = { repositoryBytes: saltBytes, writerBytes: saltBytes, nonceBytes: saltBytes };
  const naming = { ...ids, ...rest, ...rows, seq: next.seq, previousBytes: record.nameBytes };
  const isFirst = entries.base.count === 0;
  const joint = await decoded(bytes, () => joinedTail(naming, [entries]));
  if (isFirst !== (joint !== undefined)) throw new Error(`a log joined: ${isFirst}`);
  const other = { ...naming, logs: [{ ...record, seq: record.seq + 1 }] };
  if (await decoded(bytes, () => joinedTail(other, [entries])))
    throw new Error('another log joined');
  return true;
}

const framed =
  (object: FramedKind) =>
  async (bytes: Uint8Array, scope: Scope): Promise<boolean> => {
    const table = await decoded(bytes, (by) => readPackTable(by, scope, object));
    const plain: Uint8Array[] = [];
    if (table !== undefined) {
      for (const [nth, { at, length }] of table.frames.entries()) {
        const frame = bytes.subarray(at, at + length);
        const body = await decoded(frame, (by) => table.open(nth, by));
        const edits = body && (await inflated(body, (by) => bodyOf(body, by)));
        if (edits) plain.push(edits);
      }
    }
    const isWhole = table?.end === bytes.length && plain.length === table.frames.length;
    const most = 16 << 20;
    const total = plain.reduce((sum, { length }) => sum + length, 0);
    const found = await framesOf(object, bytes, scope).catch((cause: unknown) => {
      if (!isRefusal(cause)) throw cause;
      return undefined;
    });
    if ((found !== undefined) !== (isWhole && total <= most)) {
      throw new Error(`${object} of ${total}`);
    }
    if (found === undefined) return false;
    for (const [nth, one] of found.entries()) expectSame(one, plain[nth] as Uint8Array, 'frame');
    const again = await encodeFrames(object, found, saltOf(bytes), deflate, scope);
    const back = await framesOf(object, again.bytes, scope);
    for (const [nth, one] of found.entries())
      expectSame(one, back[nth] as Uint8Array, 'comes back');
    // The front that a directory would hold opens each frame, too.
    const { frames } = framesAt(object, again.front, scope.suite);
    const open = await frameOpener(object, again.front, scope);
    for (const [nth, { at, length }] of frames.entries()) {
      const body = await open(nth, again.bytes.subarray(at, at + length));
      expectSame(await wholeDeltaBody(body, inflate, object), found[nth] as Uint8Array, 'alone');
    }
    return true;
  };

/** Yields a body as a head has it: reading it reports a fault. */
async function* bodyOf(body: Uint8Array, by: Inflate): AsyncGenerator<Uint8Array, void, void> {
  yield* decodeDeltaBody(body, by);
}

async function framesOf(
  object: FramedKind,
  bytes: Uint8Array,
  scope: Scope,
): Promise<Uint8Array[]> {
  const frames: Uint8Array[] = [];
  for await (const one of decodePack(bytes, inflate, scope, object)) frames.push(await whole(one));
  return frames;
}

async function directory(bytes: Uint8Array, scope: Scope): Promise<boolean> {
  const wrapping = await decoded(bytes, (by) => unwrapObject('directory', by, 16 << 20, scope));
  if (wrapping === undefined) return false;
  const { reader } = wrapping;
  const body = reader.take(reader.left);
  const plain = await inflated(body, (by) => bodyOf(body, by));
  if (plain === undefined) return false;
  const decode = (by: Uint8Array) => decodeDirectory(by, inflate, scope);
  const found = await decoded(bytes, decode, bytes.length + plain.length);
  if (found === undefined) return false;
  let encoded: Uint8Array | undefined;
  const by = async (own: Uint8Array) => {
    encoded = own;
    return deflate(own);
  };
  await encodeDirectory(found, saltOf(bytes), by, scope);
  expectSame(encoded as Uint8Array, plain, 'encodes');
  return true;
}

async function delta(bytes: Uint8Array, scope: Scope): Promise<boolean> {
  const body = await decoded(bytes, (by) => decodeDeltaObject(by, scope));
  if (body === undefined) return false;
  expectSame(await encodeDeltaObject(body, saltOf(bytes), scope), bytes, 'encodes');
  return (await inflated(body, (by) => bodyOf(body, by))) !== undefined;
}

async function record(bytes: Uint8Array, scope: Scope): Promise<boolean> {
  const found = await decoded(bytes, (by) => decodeRecord(by, scope));
  if (found) expectSame(await encodeRecord(found, found.nonceBytes, scope), bytes, 'encodes');
  return found !== undefined;
}

async function mark(bytes: Uint8Array, scope: Scope): Promise<boolean> {
  const found = await decoded(bytes, (by) => decodeMark(by, scope));
  if (found) expectSame(await encodeMark(found, saltOf(bytes), scope), bytes, 'encodes');
  return found !== undefined;
}

const OBJECTS: Record<string, (bytes: Uint8Array, scope: Scope) => Promise<boolean>> = {
  ...{ repository, head, log, delta, directory, record, mark, history },
  ...{ pack: framed('pack'), nodes: framed('nodes') },
};

/**
 * Encrypts the parts of an unencrypted object, as an attacker with the key would. The content of an encrypted object is
 * as hostile as any other, and decoders refuse it alike.
 */
async function sealedBy(object: RemoteKind, bytes: Uint8Array): Promise<Uint8Array | undefined> {
  const salt = saltOf(bytes);
  if (salt.length < SALT_BYTES) return undefined;
  if (object === 'repository') {
    const found = await decoded(bytes, (by) => decodeRepository(by, PLAIN_SCOPE));
    return found && encodeRepository(found, SEALED_SCOPE);
  }
  if (object === 'directory') {
    const found = await decoded(bytes, (by) => decodeDirectory(by, inflate, PLAIN_SCOPE), 8 << 20);
    return found && sealedDirectory(found, salt);
  }
  if (object !== 'pack' && object !== 'nodes') {
    const most = 1 << 20;
    const found = await decoded(bytes, (by) => unwrapObject(object, by, most, PLAIN_SCOPE));
    if (found === undefined) return undefined;
    const { reader } = found;
    return wrapObject(object, salt, reader.take(reader.left), most, SEALED_SCOPE);
  }
  const table = await decoded(bytes, (by) => readPackTable(by, PLAIN_SCOPE, object));
  if (table?.end !== bytes.length) return undefined;
  const frames: Uint8Array[] = [];
  for (const [nth, { at, length }] of table.frames.entries()) {
    const frame = await decoded(bytes.subarray(at, at + length), (by) => table.open(nth, by));
    if (frame === undefined) return undefined;
    if (frame.length < 4) return undefined;
    frames.push(frame);
  }
  const bodies = frames.map((frame) => frame.subarray(4));
  const lengths = frames.map((frame) =>
    new DataView(frame.buffer, frame.byteOffset).getUint32(0, true),
  );
  if (lengths.some((length) => length > 1 << 20)) return undefined;
  const plain = lengths.map((length) => new Uint8Array(length));
  const stored = async () => bodies.shift() as Uint8Array;
  return (await encodeFrames(object, plain, salt, stored, SEALED_SCOPE)).bytes;
}

/** Returns the directory of the same objects, encrypted. */
async function sealedDirectory(
  { packs, nodes, topBytes }: Directory,
  salt: Uint8Array,
): Promise<Uint8Array> {
  const sealedFronts = <T extends Front>(kind: FramedKind, fronts: readonly T[]): Promise<T[]> =>
    Promise.all(
      fronts.map(async (front) => {
        const own = saltOf(front.envelopeBytes);
        const { envelopeBytes } = await SEALED_SCOPE.suite.toWrite(kind, own, SEALED_SCOPE);
        return { ...front, envelopeBytes };
      }),
    );
  const sealed = {
    packs: await sealedFronts('pack', packs),
    nodes: await sealedFronts('nodes', nodes),
    topBytes,
  };
  return encodeDirectory(sealed, salt, deflate, SEALED_SCOPE);
}

/** Forges as an attacker who has only objects of the remote: joins their first bytes with other bytes. */
async function forged(object: RemoteKind, bytes: Uint8Array): Promise<Uint8Array | undefined> {
  const salt = saltOf(bytes);
  if (object === 'repository' || salt.length < SALT_BYTES) return undefined;
  const { envelopeBytes } = await SEALED_SCOPE.suite.toWrite(object, salt, SEALED_SCOPE);
  return concatBytes([envelopeBytes, bytes.subarray(SALT_AT + SALT_BYTES)]);
}

const expectSealed =
  (name: string, target: (typeof OBJECTS)[string]): Target =>
  async (bytes) => {
    const object = name as RemoteKind;
    const other = await forged(object, bytes);
    if (other && (await target(other, SEALED_SCOPE))) throw new Error(`a forged ${name}`);
    const sealed = await sealedBy(object, bytes);
    // Padding may make it too long.
    if (sealed === undefined || sealed.length > 60 << 10) return false;
    const isSound = await target(sealed, SEALED_SCOPE);
    if (isSound !== (await target(bytes, PLAIN_SCOPE))) throw new Error(`${isSound}, encrypted`);
    return isSound;
  };

/** The targets by name: for unencrypted objects, and for the same objects encrypted. */
export const TARGETS: Record<string, Target> = {
  ...Object.fromEntries(
    Object.entries(OBJECTS).map(([name, target]): [string, Target] => [
      name,
      (bytes) => target(bytes, PLAIN_SCOPE),
    ]),
  ),
  ...Object.fromEntries(
    Object.entries(OBJECTS).map(([name, target]): [string, Target] => [
      `sealed-${name}`,
      expectSealed(name, target),
    ]),
  ),
};
