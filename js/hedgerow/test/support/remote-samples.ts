/** Random objects of a remote, and functions that make and damage them. */
import { blake3 } from '@noble/hashes/blake3.js';
import { sameBytes } from '../../src/base/bytes.js';
import { compareKeys } from '../../src/base/key.js';
import { fitsHead } from '../../src/sync/remote/format/check-tail-entries.js';
import { crcOf, PLAIN_SCOPE, type Scope } from '../../src/sync/remote/format/cipher-suite.js';
import type { Deflate } from '../../src/sync/remote/format/deflate.js';
import { MAX_LOGS } from '../../src/sync/remote/format/format-limits.js';
import type {
  BlockRecord,
  Checkpoint,
  HeadRecord,
  Layer,
  PackRecord,
  RowTree,
  Tail,
  TailEntry,
} from '../../src/sync/remote/format/head-record.js';
import { sameRows } from '../../src/sync/remote/format/head-record.js';
import { encodeFrames } from '../../src/sync/remote/format/pack-write.js';
import { encodeLog } from '../../src/sync/remote/format/tail-log-object.js';
import type { Random } from './random.js';

export const hash = (bytes: Uint8Array): Uint8Array => blake3(bytes);

const ENVELOPE_BYTES = 24;
const SEAL_BYTES = 4;

/** Returns a number of up to 53 bits, often a small one. */
function number(from: Random): number {
  return Math.floor(from.next() * 2 ** from.pick([1, 8, 32, 53]));
}

function rowsOf(from: Random): RowTree {
  return { rootBytes: from.bytes(32), count: 1 + Math.min(number(from), 2 ** 52) };
}

const NO_ROWS: RowTree = { rootBytes: new Uint8Array(32), count: 0 };

function packRecord(from: Random): PackRecord {
  return {
    nameBytes: from.bytes(32),
    length: 1 + from.below(6 << 20),
    edits: 1 + from.below(1e6),
  };
}

function entries(from: Random, seq: number, base: RowTree, nonceBytes: Uint8Array): TailEntry[] {
  const count = Math.min(from.below(from.pick([1, 5, 30])), seq);
  const tail: TailEntry[] = [];
  let rows = base;
  for (let nth = 0; nth < count; nth++) {
    const own = seq - count + 1 + nth;
    const next = from.next() < 0.05 ? NO_ROWS : rowsOf(from);
    if (sameRows(next, rows)) continue;
    rows = next;
    tail.push({
      seq: own,
      nonceBytes: own === seq ? nonceBytes : from.bytes(16),
      rows,
      delta:
        from.next() < 0.7
          ? { kind: 'inline', deltaBytes: from.bytes(1 + from.below(from.pick([10, 600]))) }
          : { kind: 'object', nameBytes: from.bytes(32), length: 1 + from.below(20_000) },
    });
  }
  return tail;
}

/** Returns the history in a checkpoint of this number. */
function history(from: Random, seq: number): Pick<Checkpoint, 'nonceBytes' | 'history'> {
  if (seq === 0) return { nonceBytes: new Uint8Array(16), history: [] };
  const blocks: BlockRecord[] = [];
  let next = 1;
  for (let left = 1 + from.below(4); left > 0 && next <= seq; left--) {
    const pushes = 1 + from.below(Math.min(seq - next + 1, 65_536));
    const length = 1 + from.below(1 << 20);
    blocks.push({ nameBytes: from.bytes(32), length, seq: next, pushes });
    next += pushes + from.below(3);
  }
  return { nonceBytes: from.bytes(16), history: blocks };
}

/** Cuts entries into pieces; a head has room for each piece. */
function pieces(from: Random, base: RowTree, all: readonly TailEntry[]): Tail[] {
  const cut: Tail[] = [];
  let begin = 0;
  for (let end = 1; end <= all.length; end++) {
    const isFull = !fitsHead(all.slice(begin, end + 1)) || from.next() < 0.1;
    if (end < all.length && !isFull) continue;
    cut.push({ base: all[begin - 1]?.rows ?? base, tail: all.slice(begin, end) });
    begin = end;
  }
  return cut.slice(-MAX_LOGS - 1);
}

/** Returns a head that keeps all rules, with its logs. */
export async function randomBranch(
  from: Random,
  scope: Scope = PLAIN_SCOPE,
): Promise<{ head: HeadRecord; logs: Tail[]; logBytes: Uint8Array[] }> {
  const first = from.next() < 0.3 ? NO_ROWS : rowsOf(from);
  // The rows have a source: there were heads before the tail.
  const seq = Math.max(first.count === 0 ? 1 : 40, Math.min(number(from), 2 ** 52));
  const nonceBytes = from.bytes(16);
  const all = entries(from, seq, first, nonceBytes);
  const rows = all[all.length - 1]?.rows ?? first;
  const parts = pieces(from, first, all);
  const { base, tail: whole } = {
    base: parts[0]?.base ?? first,
    tail: parts.flatMap((part) => part.tail),
  };
  const logs = parts.slice(0, -1);
  const salts = logs.map(() => from.bytes(16));
  const encode = (log: Tail, nth: number) => encodeLog(log, salts[nth] as Uint8Array, hash, scope);
  const encoded = await Promise.all(logs.map(encode));
  // The checkpoint is at the base or at one of the entries.
  const nth = from.below(whole.length + 1);
  const at = nth === 0 ? undefined : whole[nth - 1];
  const kept = at?.rows ?? base;
  const checkpointSeq = at?.seq ?? (base.count === 0 ? 0 : (whole[0]?.seq ?? seq + 1) - 1);
  const count = kept.count === 0 ? 0 : Math.min(checkpointSeq, 1 + from.below(4));
  const layers = Array.from({ length: count }, (_, nth): Layer => {
    const packs = Array.from({ length: 1 + from.below(20) }, () => packRecord(from));
    const isLast = nth === count - 1;
    return { seq: checkpointSeq - count + 1 + nth, rows: isLast ? kept : rowsOf(from), packs };
  });
  const names = new Set(Array.from({ length: from.below(5) }, () => from.text(8)));
  names.delete('');
  const head: HeadRecord = {
    epoch: scope.epoch,
    repositoryBytes: from.bytes(16),
    seq,
    writerBytes: from.bytes(16),
    nonceBytes,
    previousBytes: seq === 1 ? new Uint8Array(32) : from.bytes(32),
    app: from.below(2 ** 32),
    isCompacting: from.next() < 0.5,
    rows,
    checkpoint: { seq: checkpointSeq, ...history(from, checkpointSeq), layers },
    logs: encoded.map(({ record }) => record),
    base: parts.at(-1)?.base ?? rows,
    tail: parts.at(-1)?.tail ?? [],
    sums: [...names].sort(compareKeys).map((name) => ({
      name,
      rootBytes: from.bytes(32),
      sum: BigInt(number(from)) * 2048n + 2047n,
    })),
  };
  return { head, logs, logBytes: encoded.map(({ bytes }) => bytes) };
}

/** Returns a head that keeps all rules. */
export const randomHead = async (from: Random, scope?: Scope): Promise<HeadRecord> =>
  (await randomBranch(from, scope)).head;

/** Returns the bytes of a pack. */
export const encodePack = async (
  deltas: readonly Uint8Array[],
  saltBytes: Uint8Array,
  by: Deflate,
  scope: Scope,
): Promise<Uint8Array> => (await encodeFrames('pack', deltas, saltBytes, by, scope)).bytes;

const FRAMED = ['HDGP', 'HDGN'].map((magic) => new TextEncoder().encode(magic));

/** Returns an object with seals that fit its bytes. */
export function resealed(bytes: Uint8Array): Uint8Array {
  const sealed = bytes.slice();
  if (FRAMED.some((magic) => sameBytes(sealed.slice(0, 4), magic))) return resealedFrames(sealed);
  const end = bytes.length - SEAL_BYTES;
  if (end < ENVELOPE_BYTES) return sealed;
  const crc = crcOf(sealed.slice(0, ENVELOPE_BYTES), 0, 1, sealed.slice(ENVELOPE_BYTES, end));
  sealed.set(crc, end);
  return sealed;
}

/** Returns an object whose table and frames have fitting seals, as far as its table reaches. */
function resealedFrames(pack: Uint8Array): Uint8Array {
  const from = ENVELOPE_BYTES + 4;
  if (pack.length < from) return pack;
  const view = new DataView(pack.buffer);
  const count = view.getUint32(ENVELOPE_BYTES, true);
  const envelope = pack.slice(0, ENVELOPE_BYTES);
  let at = from;
  const reseal = (number: number, length: number) => {
    const end = at + length - SEAL_BYTES;
    if (end < at || at + length > pack.length) return false;
    pack.set(crcOf(envelope, number, 1 + count, pack.slice(at, end)), end);
    at += length;
    return true;
  };
  if (!reseal(0, 4 * count + SEAL_BYTES)) return pack;
  for (let nth = 0; nth < count; nth++) {
    if (!reseal(1 + nth, view.getUint32(from + 4 * nth, true))) break;
  }
  return pack;
}
