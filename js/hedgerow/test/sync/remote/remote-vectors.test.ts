/**
 * The objects of `vectors/remote/objects.json`, which another writer has made, and the encrypted objects of
 * `sealed.json`: their contents, and the refused ones.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { concatBytes } from '../../../src/base/bytes.js';
import { hex } from '../../../src/base/hex.js';
import { HedgerowError } from '../../../src/index.js';
import { remoteKeys } from '../../../src/sync/encryption/remote-keys.js';
import { PLAIN_SCOPE, type Scope } from '../../../src/sync/remote/format/cipher-suite.js';
import { deflate, inflate } from '../../../src/sync/remote/format/deflate.js';
import { decodeDeltaBody, wholeDeltaBody } from '../../../src/sync/remote/format/delta-body.js';
import {
  decodeDeltaObject,
  encodeDeltaObject,
} from '../../../src/sync/remote/format/delta-object.js';
import {
  decodeMark,
  decodeRecord,
  encodeMark,
  encodeRecord,
} from '../../../src/sync/remote/format/garbage-marks.js';
import { decodeHead, encodeHead } from '../../../src/sync/remote/format/head-codec.js';
import type { HeadRecord, RowTree, Tail } from '../../../src/sync/remote/format/head-record.js';
import {
  decodeDirectory,
  encodeDirectory,
  hashPrefix,
} from '../../../src/sync/remote/format/layer-directory.js';
import {
  decodePack,
  type Front,
  frameOpener,
  readPackTable,
} from '../../../src/sync/remote/format/pack-read.js';
import { encodeFrames } from '../../../src/sync/remote/format/pack-write.js';
import { decodeBlock, encodeBlock } from '../../../src/sync/remote/format/push-history-block.js';
import {
  decodeRepository,
  encodeRepository,
} from '../../../src/sync/remote/format/repository-file.js';
import { decodeLog, encodeLog } from '../../../src/sync/remote/format/tail-log-object.js';
import { ofKind } from '../../support/error-kind.js';
import { encodePack, hash } from '../../support/remote-samples.js';
import { unhex } from '../../support/remote-store.js';

interface Vector {
  readonly kind: string;
  readonly name: string;
  readonly bytes: string;
}

interface SealedVector extends Vector {
  readonly context: string;
}

interface Sound {
  readonly says: object;
}

interface Refused {
  readonly code: string;
  readonly offset?: number;
}

function vectorsOf<T>(name: string): T {
  const file = new URL(`../../../../../vectors/remote/${name}.json`, import.meta.url);
  return JSON.parse(readFileSync(file, 'utf8')) as T;
}

const { objects, refused } = vectorsOf<{
  objects: (Vector & Sound)[];
  refused: (Vector & Refused)[];
}>('objects');
const sealed = vectorsOf<{
  keys: Record<string, string>;
  place: string;
  objects: (SealedVector & Sound & { epoch: number })[];
  refused: (SealedVector & Refused)[];
}>('sealed');

/** The place of an object of the sealed vectors. */
function scopeOf({ context }: SealedVector, epoch = 1): Scope {
  const keys = (wanted: number) => {
    const key = sealed.keys[wanted];
    return key === undefined ? undefined : unhex(key);
  };
  return { ...remoteKeys({ keys, place: sealed.place, epoch }), contextBytes: unhex(context) };
}

/** Returns all parts of a result. */
async function whole(parts: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const all: Uint8Array[] = [];
  for await (const part of parts) all.push(part);
  return concatBytes(all);
}

/** Returns the deltas of a pack. */
async function deltasOf(bytes: Uint8Array, scope: Scope): Promise<Uint8Array[]> {
  const deltas: Uint8Array[] = [];
  for await (const delta of decodePack(bytes, inflate, scope)) deltas.push(await whole(delta));
  return deltas;
}

/** A decoded object as the vectors write it, and the bytes that the encoder makes of it. */
type Reading = readonly [says: unknown, again: Uint8Array];

const rowsOf = ({ rootBytes, count }: RowTree) => ({ root: hex(rootBytes), count });
const name = ({ nameBytes }: { readonly nameBytes: Uint8Array }) => hex(nameBytes);

function tailOf({ base, tail }: Tail) {
  const all = tail.map(({ seq, nonceBytes, rows, delta }) => ({
    ...{ seq, nonce: hex(nonceBytes), after: rowsOf(rows) },
    ...(delta.kind === 'inline'
      ? { delta: hex(delta.deltaBytes) }
      : { name: name(delta), length: delta.length }),
  }));
  return { base: rowsOf(base), tail: all };
}

function headOf(head: HeadRecord, salt: string) {
  const { seq, app, rows, checkpoint, logs, sums } = head;
  return {
    ...{ salt, nonce: hex(head.nonceBytes), repository: hex(head.repositoryBytes), seq },
    ...{ writer: hex(head.writerBytes), previous: hex(head.previousBytes), app },
    ...{ flags: head.isCompacting ? 1 : 0, rows: rowsOf(rows) },
    checkpoint: {
      ...{ seq: checkpoint.seq, nonce: hex(checkpoint.nonceBytes) },
      history: checkpoint.history.map(({ nameBytes, ...rest }) => ({
        ...{ name: hex(nameBytes), ...rest },
      })),
      layers: checkpoint.layers.map((one) => ({
        ...{ seq: one.seq, rows: rowsOf(one.rows) },
        packs: one.packs.map((pack) => ({
          ...{ name: name(pack), length: pack.length, edits: pack.edits },
        })),
      })),
    },
    logs: logs.map(({ nameBytes, ...rest }) => ({ name: hex(nameBytes), ...rest })),
    ...tailOf(head),
    sums: sums.map((one) => ({
      name: hex(new TextEncoder().encode(one.name)),
      root: hex(one.rootBytes),
      // Numbers that JSON can hold are written as such.
      sum: one.sum === 0n ? 0 : `${one.sum}`,
    })),
  };
}

const saltOf = (bytes: Uint8Array) => bytes.slice(8, 24);

/** Returns the first bytes of a hash. */
function startHex(start: number): string {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, start, true);
  expect(hashPrefix(bytes)).toBe(start);
  return hex(bytes);
}

/** Returns the stored form of deflate: one block. */
function stored(plain: Uint8Array): Uint8Array {
  const head = new Uint8Array(5);
  const view = new DataView(head.buffer);
  view.setUint8(0, 1);
  view.setUint16(1, plain.length, true);
  view.setUint16(3, plain.length ^ 0xffff, true);
  return concatBytes([head, plain]);
}

const READERS: Record<string, (bytes: Uint8Array, scope: Scope) => Promise<Reading>> = {
  async repository(bytes, scope) {
    const found = await decodeRepository(bytes, scope);
    return [{ id: hex(found.idBytes), app: found.app }, await encodeRepository(found, scope)];
  },
  async head(bytes, scope) {
    const head = await decodeHead(bytes, scope);
    const salt = saltOf(bytes);
    return [headOf(head, hex(salt)), await encodeHead(head, salt, scope)];
  },
  async log(bytes, scope) {
    const { entries, saltBytes } = await decodeLog(bytes, scope);
    const says = { salt: hex(saltBytes), ...tailOf(entries) };
    return [says, (await encodeLog(entries, saltBytes, hash, scope)).bytes];
  },
  async pack(bytes, scope) {
    const deltas = await deltasOf(bytes, scope);
    const salt = saltOf(bytes);
    // Each frame alone, by its place.
    const { frames: places, open } = await readPackTable(bytes.subarray(0, 700), scope);
    const frames: Uint8Array[] = [];
    for (const [nth, { at, length }] of places.entries()) {
      const frame = await open(nth, bytes.subarray(at, at + length));
      expect(await whole(decodeDeltaBody(frame, inflate))).toEqual(deltas[nth]);
      frames.push(frame);
    }
    // Deflating has many encodings; the inflated bytes have one.
    expect(await deltasOf(await encodePack(deltas, salt, deflate, scope), scope)).toEqual(deltas);
    const stored = [...frames];
    const again = await encodePack(
      deltas,
      salt,
      async () => (stored.shift() as Uint8Array).slice(4),
      scope,
    );
    return [{ salt: hex(salt), frames: frames.map(hex), edits: deltas.map(hex) }, again];
  },
  async nodes(bytes, scope) {
    const salt = saltOf(bytes);
    const all: Uint8Array[] = [];
    for await (const parts of decodePack(bytes, inflate, scope, 'nodes'))
      all.push(await whole(parts));
    const { frames: places, open } = await readPackTable(bytes.subarray(0, 700), scope, 'nodes');
    const [frames, records]: [Uint8Array[], Uint8Array[]] = [[], []];
    for (const [nth, { at, length }] of places.entries()) {
      const frame = await open(nth, bytes.subarray(at, at + length));
      frames.push(frame);
      records.push(await wholeDeltaBody(frame, inflate, 'nodes'));
    }
    expect(all).toEqual(records);
    const stored = frames.map((frame) => frame.slice(4));
    const by = async () => stored.shift() as Uint8Array;
    const again = await encodeFrames('nodes', records, salt, by, scope);
    // The front in a directory opens each frame, too.
    const alone = await frameOpener('nodes', again.front, scope);
    for (const [nth, { at, length }] of places.entries()) {
      expect(await alone(nth, bytes.subarray(at, at + length))).toEqual(frames[nth]);
    }
    return [{ salt: hex(salt), frames: frames.map(hex), records: records.map(hex) }, again.bytes];
  },
  async directory(bytes, scope) {
    const salt = saltOf(bytes);
    const found = await decodeDirectory(bytes, inflate, scope);
    const frameOf = <T>({ envelopeBytes, lengths }: Front, more: (nth: number) => T) => ({
      salt: hex(saltOf(envelopeBytes)),
      frames: lengths.map((length, nth) => ({ length, ...more(nth) })),
    });
    const packs = found.packs.map((one) =>
      frameOf(one, (nth) => ({ key: hex(one.firstKeys[nth] as Uint8Array) })),
    );
    const objects = found.nodes.map((one) =>
      frameOf(one, (nth) => ({ starts: one.starts[nth]?.map(startHex) })),
    );
    const says = { salt: hex(salt), packs, objects, top: hex(found.topBytes) };
    return [says, await encodeDirectory(found, salt, async (plain) => stored(plain), scope)];
  },
  async delta(bytes, scope) {
    const body = await decodeDeltaObject(bytes, scope);
    const salt = saltOf(bytes);
    const edits = await whole(decodeDeltaBody(body, inflate));
    const says = { salt: hex(salt), body: hex(body), edits: hex(edits) };
    return [says, await encodeDeltaObject(body, salt, scope)];
  },
};

const OTHERS: typeof READERS = {
  async history(bytes, scope) {
    const { pushes, saltBytes } = await decodeBlock(bytes, scope);
    const all = pushes.map(({ seq, nonceBytes }) => ({ seq, nonce: hex(nonceBytes) }));
    const { bytes: again } = await encodeBlock(pushes, saltBytes, hash, scope);
    return [{ salt: hex(saltBytes), pushes: all }, again];
  },
  async record(bytes, scope) {
    const { nonceBytes, collected, marks } = await decodeRecord(bytes, scope);
    const told = marks.map((one) => ({
      name: name(one),
      length: one.length,
      stamp: one.stamp ?? 0,
    }));
    const says = { salt: hex(nonceBytes), collected, marks: told };
    return [says, await encodeRecord({ collected, marks }, nonceBytes, scope)];
  },
  async mark(bytes, scope) {
    const { p, d } = await decodeMark(bytes, scope);
    const salt = saltOf(bytes);
    const says = { salt: hex(salt), packs: p.map(hex), deltas: d.map(hex) };
    return [says, await encodeMark({ p, d }, salt, scope)];
  },
};
Object.assign(READERS, OTHERS);

const read = async ({ kind, bytes }: Vector, scope: Scope = PLAIN_SCOPE) =>
  READERS[kind]?.(unhex(bytes), scope);

/** Expects the refusal that the vector names. */
async function expectRefused(vector: Vector & Refused, scope?: Scope): Promise<void> {
  const { kind, code, offset } = vector;
  const error = await read(vector, scope).catch((cause: unknown) => cause);
  expect(error).toBeInstanceOf(HedgerowError);
  // Offsets of deflated bytes count from their beginning.
  const isInside = kind === 'pack' && offset !== undefined && offset <= 4 && offset % 4 === 0;
  const object = code === 'wrong-key' || isInside ? undefined : kind;
  expect(error).toMatchObject({ ...ofKind(code), ...(object && { object }) });
  expect((error as HedgerowError).offset).toBe(offset);
}

describe('an object of the vectors', () => {
  it('exists for each kind', () => {
    const kinds = (all: readonly Vector[]) => [...new Set(all.map(({ kind }) => kind))].sort();
    expect(kinds(objects)).toEqual(Object.keys(READERS).sort());
    expect(kinds(refused)).toEqual(Object.keys(READERS).sort());
    expect([objects.length, refused.length]).toEqual([19, 218]);
  });

  it.each(objects)('$kind: $name', async (vector) => {
    const [says, again] = (await read(vector)) as Reading;
    expect(says).toEqual(vector.says);
    expect(hex(again)).toBe(vector.bytes);
  });

  it.each(refused)('$kind is refused: $name', async (vector) => {
    await expectRefused(vector);
  });
});

describe('an object of the vectors that are encrypted', () => {
  it('exists for each kind', () => {
    const kinds = (all: readonly Vector[]) => [...new Set(all.map(({ kind }) => kind))].sort();
    expect(kinds(sealed.objects)).toEqual(Object.keys(READERS).sort());
    expect(kinds(sealed.refused)).toEqual(Object.keys(READERS).sort());
    expect([sealed.objects.length, sealed.refused.length]).toEqual([19, 169]);
  });

  it.each(sealed.objects)('$kind: $name', async (vector) => {
    const [says, again] = (await read(vector, scopeOf(vector, vector.epoch))) as Reading;
    expect(says).toEqual(vector.says);
    expect(hex(again)).toBe(vector.bytes);
  });

  it.each(sealed.refused)('$kind is refused: $name', async (vector) => {
    await expectRefused(vector, scopeOf(vector, 2));
  });
});
