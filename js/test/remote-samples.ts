/** Random objects of a remote, and the tools to make and to damage them. */
import { blake3 } from '@noble/hashes/blake3.js';
import { compareKeys } from '../src/base/key.js';
import { sealOf } from '../src/remote/format/envelope.js';
import type {
  Generation,
  Head,
  PackRecord,
  Retired,
  Rows,
  Tail,
  TailEntry,
} from '../src/remote/format/head.js';
import { sameRows } from '../src/remote/format/head.js';
import { inOrder } from '../src/remote/format/head-check.js';
import { MAX_LOGS } from '../src/remote/format/limits.js';
import { encodeLog } from '../src/remote/format/log.js';
import { fitsHead } from '../src/remote/format/tail-check.js';
import type { Random } from './random.js';

export const hash = (bytes: Uint8Array): Uint8Array => blake3(bytes);

const ENVELOPE_BYTES = 24;
const SEAL_BYTES = 4;

/** A number of up to 53 bits, often a small one. */
function number(from: Random): number {
  return Math.floor(from.next() * 2 ** from.pick([1, 8, 32, 53]));
}

function rowsOf(from: Random): Rows {
  return { rootBytes: from.bytes(32), count: 1 + Math.min(number(from), 2 ** 52) };
}

const NO_ROWS: Rows = { rootBytes: new Uint8Array(32), count: 0 };

function packRecord(from: Random): PackRecord {
  return {
    nameBytes: from.bytes(32),
    length: 1 + from.below(6 << 20),
    edits: 1 + from.below(1e6),
  };
}

function entries(from: Random, seq: number, base: Rows, nonceBytes: Uint8Array): TailEntry[] {
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

/** Cuts entries into pieces of which a head has room for each. */
function pieces(from: Random, base: Rows, all: readonly TailEntry[]): Tail[] {
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

/** A head that keeps all rules, with its logs. */
export function randomBranch(from: Random): { head: Head; logs: Tail[]; logBytes: Uint8Array[] } {
  const first = from.next() < 0.3 ? NO_ROWS : rowsOf(from);
  // Rows come from somewhere: there were heads before the tail.
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
  const encoded = logs.map((log) => encodeLog(log, from.bytes(16), hash));
  // The checkpoint is at the base, or at one of the entries.
  const nth = from.below(whole.length + 1);
  const at = nth === 0 ? undefined : whole[nth - 1];
  const kept = at?.rows ?? base;
  const checkpointSeq = at?.seq ?? (base.count === 0 ? 0 : (whole[0]?.seq ?? seq + 1) - 1);
  const count = kept.count === 0 ? 0 : Math.min(checkpointSeq, 1 + from.below(4));
  const generations = Array.from({ length: count }, (_, nth): Generation => {
    const packs = Array.from({ length: 1 + from.below(20) }, () => packRecord(from));
    const isLast = nth === count - 1;
    return { seq: checkpointSeq - count + 1 + nth, rows: isLast ? kept : rowsOf(from), packs };
  });
  const retired = Array.from({ length: from.below(10) }, (): Retired => {
    const own = 1 + from.below(Math.min(seq, 2 ** 31));
    const stamp = own < seq && from.next() < 0.5 ? 1 + number(from) : undefined;
    return { folder: from.pick(['p', 'd'] as const), nameBytes: from.bytes(32), seq: own, stamp };
  });
  const names = new Set(Array.from({ length: from.below(5) }, () => from.text(8)));
  names.delete('');
  const head: Head = {
    repositoryBytes: from.bytes(16),
    seq,
    writerBytes: from.bytes(16),
    nonceBytes,
    previousBytes: seq === 1 ? new Uint8Array(32) : from.bytes(32),
    app: from.below(2 ** 32),
    isCompacting: from.next() < 0.5,
    rows,
    checkpoint: { seq: checkpointSeq, generations },
    logs: encoded.map(({ record }) => record),
    base: parts.at(-1)?.base ?? rows,
    tail: parts.at(-1)?.tail ?? [],
    retired: inOrder(retired),
    sums: [...names].sort(compareKeys).map((name) => ({
      name,
      rootBytes: from.bytes(32),
      sum: BigInt(number(from)) * 2048n + 2047n,
    })),
  };
  return { head, logs, logBytes: encoded.map(({ bytes }) => bytes) };
}

/** A head that keeps all rules. */
export const randomHead = (from: Random): Head => randomBranch(from).head;

/** An object with a seal that fits its bytes. */
export function resealed(bytes: Uint8Array): Uint8Array {
  const sealed = bytes.slice();
  const end = bytes.length - SEAL_BYTES;
  if (end < ENVELOPE_BYTES) return sealed;
  const seal = sealOf(sealed.slice(0, ENVELOPE_BYTES), 0, 1, sealed.slice(ENVELOPE_BYTES, end));
  sealed.set(seal, end);
  return sealed;
}
