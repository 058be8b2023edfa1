/** The objects of `vectors/remote/objects.json`, which another writer has made: what they say, and what is refused. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { joined } from '../src/base/bytes.js';
import { hex } from '../src/base/hex.js';
import { HedgerowError } from '../src/index.js';
import { deflate, inflate } from '../src/remote/format/deflate.js';
import { decodeDeltaBody } from '../src/remote/format/delta-body.js';
import { decodeDeltaObject, encodeDeltaObject } from '../src/remote/format/delta-object.js';
import { unwrapped, wrapped } from '../src/remote/format/envelope.js';
import type { Head, Rows, Tail } from '../src/remote/format/head.js';
import { decodeHead, encodeHead } from '../src/remote/format/head-codec.js';
import { MAX_PACK_BYTES } from '../src/remote/format/limits.js';
import { decodeLog, encodeLog } from '../src/remote/format/log.js';
import { decodeFrame, decodeFrames, encodeFrames, framesAt } from '../src/remote/format/pack.js';
import { decodeRepository, encodeRepository } from '../src/remote/format/repository.js';
import { hash } from './remote-samples.js';
import { unhex } from './remote-store.js';

interface Vector {
  readonly kind: string;
  readonly name: string;
  readonly bytes: string;
}

const file = new URL('../../vectors/remote/objects.json', import.meta.url);
const { objects, refused } = JSON.parse(readFileSync(file, 'utf8')) as {
  objects: (Vector & { says: object })[];
  refused: (Vector & { code: string; offset?: number })[];
};

/** All parts of what a call gives. */
async function whole(call: () => AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const part of call()) parts.push(part);
  return joined(parts);
}

/** A decoded object as the vectors write it, and the bytes that the encoder makes of it. */
type Reading = readonly [says: unknown, again: Uint8Array];

const rowsOf = ({ rootBytes, count }: Rows) => ({ root: hex(rootBytes), count });
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

function headOf(head: Head) {
  const { seq, app, rows, checkpoint, logs, retired, sums } = head;
  return {
    ...{ nonce: hex(head.nonceBytes), repository: hex(head.repositoryBytes), seq },
    ...{ writer: hex(head.writerBytes), previous: hex(head.previousBytes), app },
    ...{ flags: head.isCompacting ? 1 : 0, rows: rowsOf(rows) },
    checkpoint: {
      seq: checkpoint.seq,
      generations: checkpoint.generations.map((one) => ({
        ...{ seq: one.seq, rows: rowsOf(one.rows) },
        packs: one.packs.map((pack) => ({
          ...{ name: name(pack), length: pack.length, edits: pack.edits },
        })),
      })),
    },
    logs: logs.map(({ nameBytes, ...rest }) => ({ name: hex(nameBytes), ...rest })),
    ...tailOf(head),
    retired: retired.map((one) => ({
      ...{ folder: one.folder === 'p' ? 0 : 1, name: name(one), seq: one.seq },
      stamp: one.stamp ?? 0,
    })),
    sums: sums.map((one) => ({
      name: hex(new TextEncoder().encode(one.name)),
      root: hex(one.rootBytes),
      // Numbers that JSON has are written as such.
      sum: one.sum === 0n ? 0 : `${one.sum}`,
    })),
  };
}

const READERS: Record<string, (bytes: Uint8Array) => Reading | Promise<Reading>> = {
  repository(bytes) {
    const found = decodeRepository(bytes);
    return [{ id: hex(found.idBytes), app: found.app }, encodeRepository(found)];
  },
  head(bytes) {
    const head = decodeHead(bytes);
    return [headOf(head), encodeHead(head)];
  },
  log(bytes) {
    const { entries, saltBytes } = decodeLog(bytes);
    const says = { salt: hex(saltBytes), ...tailOf(entries) };
    return [says, encodeLog(entries, saltBytes, hash).bytes];
  },
  async pack(bytes) {
    const frames = decodeFrames('pack', bytes, inflate);
    const edits = [];
    for (const frame of frames) edits.push(await whole(() => frame));
    const { saltBytes, reader } = unwrapped('pack', bytes, MAX_PACK_BYTES);
    const body = reader.take(reader.left);
    // Deflating has many encodings; what is inflated has one.
    const { bytes: again, lengths } = await encodeFrames('pack', edits, saltBytes, deflate);
    const places = framesAt(lengths).map(({ from, to }) => again.subarray(from, to));
    for (const [nth, place] of places.entries()) {
      expect(await decodeFrame('pack', place, inflate)).toEqual(edits[nth]);
    }
    const counts = new DataView(body.buffer, body.byteOffset);
    const own = Array.from({ length: edits.length }, (_, nth) =>
      counts.getUint32(2 + 4 * nth, true),
    );
    const told = framesAt(own).map(({ from, to }) => hex(bytes.subarray(from, to)));
    const says = { salt: hex(saltBytes), frames: told, edits: hex(edits[0] as Uint8Array) };
    return [says, wrapped('pack', saltBytes, body, MAX_PACK_BYTES)];
  },
  async delta(bytes) {
    const body = decodeDeltaObject(bytes);
    const salt = bytes.slice(8, 24);
    const edits = await whole(() => decodeDeltaBody(body, inflate));
    const says = { salt: hex(salt), body: hex(body), edits: hex(edits) };
    return [says, encodeDeltaObject(body, salt)];
  },
};

const read = async ({ kind, bytes }: Vector) => READERS[kind]?.(unhex(bytes));

describe('an object of the vectors', () => {
  it('of each kind is there', () => {
    const kinds = (all: readonly Vector[]) => [...new Set(all.map(({ kind }) => kind))].sort();
    expect(kinds(objects)).toEqual(Object.keys(READERS).sort());
    expect(kinds(refused)).toEqual(Object.keys(READERS).sort());
    expect([objects.length, refused.length]).toEqual([10, 125]);
  });

  it.each(objects)('$kind: $name', async (vector) => {
    const [says, again] = (await read(vector)) as Reading;
    expect(says).toEqual(vector.says);
    expect(hex(again)).toBe(vector.bytes);
  });

  it.each(refused)('$kind is refused: $name', async (vector) => {
    const { kind, code, offset } = vector;
    const error = await read(vector).catch((cause: unknown) => cause);
    expect(error).toBeInstanceOf(HedgerowError);
    // What is deflated is counted from where it begins.
    const object = kind === 'pack' && offset !== undefined && offset <= 4 ? undefined : kind;
    expect(error).toMatchObject({ code, ...(object && { object }) });
    expect((error as HedgerowError).offset).toBe(offset);
  });
});
