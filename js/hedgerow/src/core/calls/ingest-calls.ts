/** Calls for an ingest: start, feed, finish, rebase. */
import * as Format from '../../base/abi/block-format.js';
import * as Framing from '../../base/abi/framing.js';
import * as Reply from '../../base/abi/reply.js';
import * as Status from '../../base/abi/status.js';
import * as StreamedRowKind from '../../base/abi/streamed-row-kind.js';
import { HedgerowError } from '../../base/errors.js';
import type { EncodedRange } from '../../base/range.js';
import type { Engine, Op } from '../engine.js';
import { failWrite } from '../write-errors.js';

/** The kind of the members of a block. */
export type BlockFormat = 'pairs' | 'rows' | 'deletes' | 'patch';

const FORMATS: Readonly<Record<BlockFormat, number>> = {
  pairs: Format.pairs,
  rows: Format.rows,
  deletes: Format.deletes,
  patch: Format.patch,
};

/** How to read a stream of bytes. Without a pointer rows are `[key, value]`. */
export interface StreamCall {
  readonly prefix: string;
  readonly pointer: string | undefined;
  readonly format: 'ndjson' | 'json' | undefined;
  readonly isPatch?: boolean;
}

/** Starts an ingest of blocks on top of a view. */
export function ingest(engine: Engine, view: number, prefix: string, pointer: string): Op {
  const [prefixLength, pointerLength] = passBoth(engine, prefix, pointer);
  const op = engine.core.ingest(engine.own(view), prefixLength, pointerLength);
  return toIngestOp(engine, op, pointer);
}

/** Starts an ingest of bytes on top of a view. */
export function ingestBytes(engine: Engine, view: number, call: StreamCall): Op {
  const { prefix, pointer, format, isPatch } = call;
  const [prefixLength, pointerLength] = passBoth(engine, prefix, pointer ?? '');
  const framing =
    format === undefined ? Framing.unknown : { ndjson: Framing.lines, json: Framing.array }[format];
  const shape = isPatch
    ? StreamedRowKind.patch
    : pointer === undefined
      ? StreamedRowKind.pair
      : pointerLength;
  const op = engine.core.ingest_bytes(engine.own(view), prefixLength, shape, framing);
  return toIngestOp(engine, op, pointer);
}

function toIngestOp(engine: Engine, op: number, pointer: string | undefined): Op {
  if (op >>> 0 !== Status.noOp) return engine.toHandle(op);
  throw new HedgerowError('invalid-argument', `not a JSON pointer: ${pointer}`);
}

function passBoth(engine: Engine, prefix: string, pointer: string): [number, number] {
  const prefixBytes = engine.encoder.encode(prefix);
  const pointerBytes = engine.encoder.encode(pointer);
  const both = new Uint8Array(prefixBytes.length + pointerBytes.length);
  both.set(prefixBytes);
  both.set(pointerBytes, prefixBytes.length);
  engine.pass(both);
  return [prefixBytes.length, pointerBytes.length];
}

/** Appends bytes to an ingest of bytes. */
export function append(engine: Engine, op: Op, bytes: Uint8Array): void {
  const at = engine.core.ingest_room(engine.own(op), bytes.length);
  engine.memory.set(bytes, at);
}

/** Ends the bytes of an ingest. */
export function endIngest(engine: Engine, op: Op): void {
  engine.core.ingest_end(engine.own(op));
}

/** A block of rows: an array as JSON text, and the values of rows whose value is bytes. */
export interface FedBlock {
  readonly text: string;
  readonly format: BlockFormat;
  readonly values: readonly { row: number; bytes: Uint8Array }[];
}

/** Feeds a block of rows. Returns the bytes fed. */
export function feed(engine: Engine, op: Op, { text, format, values }: FedBlock): number {
  const { encoder } = engine;
  const bufferFor = (length: number) => engine.core.ingest_buffer(engine.own(op), length);
  const valueBytes = values.reduce((sum, { bytes }) => sum + bytes.length, 0);
  const extra = valueBytes + 12 * values.length;
  // Reserve as much as earlier blocks needed; if that is too little, the worst case.
  let capacity = Math.ceil(text.length * engine.bytesPerUnit);
  let at = bufferFor(capacity + extra);
  let encoded = encoder.encodeInto(text, engine.memory.subarray(at, at + capacity));
  if (encoded.read < text.length) {
    capacity = text.length * 3;
    at = bufferFor(capacity + extra);
    encoded = encoder.encodeInto(text, engine.memory.subarray(at, at + capacity));
    engine.bytesPerUnit = Math.min(3, (1.1 * encoded.written) / text.length);
  }
  const { memory } = engine;
  let start = encoded.written;
  const table = new DataView(memory.buffer, at + start + valueBytes, 12 * values.length);
  for (const [index, { row, bytes }] of values.entries()) {
    memory.set(bytes, at + start);
    table.setUint32(12 * index, row, true);
    table.setUint32(12 * index + 4, start, true);
    table.setUint32(12 * index + 8, bytes.length, true);
    start += bytes.length;
  }
  const length = encoded.written + extra;
  const { core } = engine;
  core.ingest_feed(engine.own(op), encoded.written, length, values.length, FORMATS[format]);
  return length;
}

/** Makes an ingest delete all rows of a range. */
export function drop(engine: Engine, op: Op, { flags, rangeBytes }: EncodedRange): void {
  engine.pass(rangeBytes);
  engine.core.ingest_drop(engine.own(op), flags, rangeBytes.length);
}

/** Makes an ingest build a part of the wanted indexes, from about `work` bytes of rows. */
export function extendIndexes(engine: Engine, op: Op, alone: boolean, work: number): void {
  engine.core.extend_indexes(engine.own(op), Number(alone), work);
}

/** Returns whether a finished ingest waits for its sum update: see `engine/sums/update-sum-trees.ts`. */
export function awaitsSums(engine: Engine, op: Op): boolean {
  return engine.core.awaits_sums(engine.own(op)) !== 0;
}

/** Makes an ingest wait for its sum update. */
export function expectSums(engine: Engine, op: Op): void {
  engine.core.expect_sums(engine.own(op));
}

/** Ends the rows of an ingest. */
export function finish(engine: Engine, op: Op): void {
  engine.core.ingest_finish(engine.own(op));
}

/**
 * Rebases a finished ingest onto the commit of a view. `kept` has the keys, as JSON texts, whose rows stay as in that
 * commit.
 */
export function rebaseIngest(engine: Engine, op: Op, view: number, kept: Iterable<string>): void {
  const text = `[${[...kept].join(',')}]`;
  const [own, onto] = [engine.own(op), engine.own(view)];
  const status = engine.core.ingest_rebase(own, onto, engine.passText(text));
  if (status !== Status.done) failWrite(engine, status);
}

/** Makes the next rebase of an ingest bring in the changes since the commit of a view. */
export function since(engine: Engine, op: Op, view: number): void {
  engine.core.ingest_since(engine.own(op), engine.own(view));
}

/** Reads the number of rows in the reply to a step. */
export function readIngestedRows(engine: Engine): number {
  return engine.word(Reply.ingestedRows);
}

/** Reads the number of chunks and the commit's hash in the reply to the last step. */
export function readIngestReply(engine: Engine): { chunks: number; commitBytes: Uint8Array } {
  return {
    chunks: engine.word(Reply.ingestedChunks),
    commitBytes: engine.hash(Reply.ingestedCommit),
  };
}
