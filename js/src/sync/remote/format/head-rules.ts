/** How one head follows from another. */

import { sameBytes } from '../../../base/bytes.js';
import { hex } from '../../../base/hex.js';
import { invalidRemote, unwritable } from './cursor.js';
import { deltaObjectLength } from './delta-object.js';
import {
  MAX_INLINE_DELTA_BYTES,
  MAX_LOGS,
  MAX_TAIL_BYTES,
  MAX_TAIL_ENTRIES,
  MAX_UNSIGNED_HEAD_BYTES,
  SHORT_HEAD_BYTES,
  SHORT_LOG_BYTES,
} from './format-limits.js';
import { checkHead } from './head-check.js';
import { headLength } from './head-codec.js';
import {
  type Checkpoint,
  checkpointRows,
  type DeltaRecord,
  deltaLength,
  deltaLengths,
  type HeadRecord,
  type LogRecord,
  type RowTree,
  sameRows,
  type Tail,
  type TailEntry,
} from './head-record.js';
import type { Scope } from './suite.js';
import { fitsHead } from './tail-check.js';
import { entriesLength } from './tail-codec.js';

/** Who replaces a head. */
export interface Author {
  readonly writerBytes: Uint8Array;
  /** 16 random bytes, new for each try. */
  readonly nonceBytes: Uint8Array;
  /** BLAKE3 of the bytes of the head that is replaced. */
  readonly previousBytes: Uint8Array;
}

/** A head that came too late or from elsewhere. */
export type HeadMismatch = 'repository' | 'seq' | 'previous';

/** The head that replaces `head` and says the same, for changes to be made to it. */
export function successorOf(head: HeadRecord, author: Author): HeadRecord {
  return { ...head, ...author, seq: head.seq + 1, isCompacting: false };
}

/**
 * Why `next` is no head that replaced `head`, whose bytes have the hash `headHashBytes`; undefined if it is one. A
 * reader that missed heads in between can only check that `seq` has grown.
 */
export function breakBetween(
  next: HeadRecord,
  head: Pick<HeadRecord, 'repositoryBytes' | 'seq'>,
  headHashBytes: Uint8Array,
): HeadMismatch | undefined {
  if (!sameBytes(next.repositoryBytes, head.repositoryBytes)) return 'repository';
  if (next.seq !== head.seq + 1) return 'seq';
  return sameBytes(next.previousBytes, headHashBytes) ? undefined : 'previous';
}

/**
 * The entries that lead from the tree `rootBytes` to the end of a tail; none if it is that end, undefined if the tail
 * does not know it. A tree that the branch has had twice is taken where it was last.
 */
export function entriesSince(
  entries: Tail,
  rootBytes: Uint8Array,
): readonly TailEntry[] | undefined {
  const { base, tail } = entries;
  for (let from = tail.length; from >= 0; from--) {
    if (sameBytes((tail[from - 1]?.rows ?? base).rootBytes, rootBytes)) return tail.slice(from);
  }
  return undefined;
}

/** The logs of a head that have entries after number `seq`; none if the tail in the head has all of them. */
export function logsSince({ logs, tail }: HeadRecord, seq: number): readonly LogRecord[] {
  if (seq + 1 >= (tail[0]?.seq ?? 0)) return [];
  // The last one that begins there or before; entries have no number that is not from one head to the next.
  const nth = logs.findLastIndex((log) => log.seq <= seq + 1);
  return logs.slice(Math.max(nth, 0));
}

/**
 * The tail of a head with its last logs, which were decoded, before it. Throws `invalid-remote` for the first that is
 * not the one that the head names, or does not lead to the next.
 */
export function joinedTail(head: HeadRecord, logs: readonly Tail[]): Tail {
  const records = head.logs.slice(head.logs.length - logs.length);
  let joined: Tail = head;
  for (let nth = logs.length - 1; nth >= 0; nth--) {
    const [log, record] = [logs[nth], records[nth]];
    if (log === undefined || record === undefined) throw unwritable('log', 'the head names fewer');
    const [first, last] = [log.tail[0], log.tail[log.tail.length - 1]];
    const isNamed =
      first?.seq === record.seq &&
      log.tail.length === record.entries &&
      deltaLengths(log.tail) === record.deltaBytes;
    const isBefore = (last?.seq ?? 0) < (joined.tail[0]?.seq ?? 0);
    if (!isNamed || !isBefore || last === undefined || !sameRows(last.rows, joined.base)) {
      throw invalidRemote('log', `${hex(record.nameBytes)} is not what the head says`, 0);
    }
    joined = { base: log.base, tail: [...log.tail, ...joined.tail] };
  }
  const { checkpoint } = head;
  const past = joined.tail.filter(({ seq }) => seq <= checkpoint.seq);
  const reaches = past[past.length - 1]?.rows ?? joined.base;
  // Of a checkpoint before the oldest log that was read, nothing is known.
  const isKnown = past.length > 0 || logs.length === head.logs.length;
  if (isKnown && !sameRows(reaches, checkpointRows(checkpoint))) {
    throw invalidRemote('log', 'the tail does not lead on from the checkpoint', 0);
  }
  return joined;
}

/** A head to which an entry was added, or why there is none. */
export type AppendOutcome =
  | { readonly kind: 'head'; readonly head: HeadRecord }
  /** The delta is too long for the head: put it, and append it by name. */
  | { readonly kind: 'spill' }
  /** The head has no room for one more entry: put a log of its tail, and append to `withLog`. */
  | { readonly kind: 'log' }
  /** The tail is full: make a checkpoint first. */
  | { readonly kind: 'checkpoint' };

/**
 * The head that replaces `head` by one more step, to `rows`. Logs up to the checkpoint, then entries up to it, leave the
 * tail, the oldest first, when it would be too long. A delta is inline if it has at most 4 KiB. Throws
 * `invalid-argument` if the step changes nothing, or is malformed. Costs the length of the head.
 */
export function withEntry(
  head: HeadRecord,
  rows: RowTree,
  delta: DeltaRecord,
  author: Author,
  scope: Scope,
): AppendOutcome {
  const entry = { seq: head.seq + 1, nonceBytes: author.nonceBytes, rows, delta };
  const length = deltaLength(entry);
  const isInline = delta.kind === 'inline';
  const isLong = isInline && length > MAX_INLINE_DELTA_BYTES;
  const stored = isLong ? deltaObjectLength(length, scope) : length;
  if (stored > MAX_TAIL_BYTES) return { kind: 'checkpoint' };
  if (isLong) return { kind: 'spill' };
  let next: HeadRecord = { ...successorOf(head, author), rows, tail: [...head.tail, entry] };
  if (!isShort(next, scope)) return { kind: 'log' };
  while (!fitsTail(next) || headLength(next, scope) > MAX_UNSIGNED_HEAD_BYTES) {
    const isTooLong = isInline && fitsTail(next);
    if (!isPast(next)) return { kind: isTooLong ? 'spill' : 'checkpoint' };
    next = withoutOldest(next);
  }
  checkHead(next);
  return { kind: 'head', head: next };
}

/** Whether a head with one more entry is one that each device may read at each change. */
function isShort(head: HeadRecord, scope: Scope): boolean {
  const { tail } = head;
  const isFew = tail.length === 1 || entriesLength(tail) <= SHORT_LOG_BYTES;
  return fitsHead(tail) && (isFew || headLength(head, scope) <= SHORT_HEAD_BYTES);
}

/** The head, no longer with its tail, but with a log of it. It is no head until an entry follows. */
export function withLog(head: HeadRecord, record: LogRecord): HeadRecord {
  return { ...head, logs: [...head.logs, record], base: head.rows, tail: [] };
}

/** Most entries that a head keeps from before its checkpoint: for devices that were away for a while. */
const KEPT_ENTRIES = 32;

/**
 * The head that replaces `head` by a checkpoint of `rows`. Its tail ends with `delta`, the step to them, if there is one
 * and the head has room for it, and keeps the entries before it, up to 32. Throws `invalid-argument` if the packs alone
 * are too many.
 */
export function withCheckpoint(
  head: HeadRecord,
  rows: RowTree,
  delta: DeltaRecord | undefined,
  { generations, history }: Pick<Checkpoint, 'generations' | 'history'>,
  author: Author,
  scope: Scope,
): HeadRecord {
  const seq = head.seq + 1;
  const { nonceBytes } = author;
  const entry = delta && { seq, nonceBytes, rows, delta };
  let next: HeadRecord = {
    ...successorOf(head, author),
    rows,
    checkpoint: { seq, nonceBytes, history, generations },
    tail: entry ? [...head.tail, entry] : head.tail,
  };
  // Without the step itself, no entry leads to the rows.
  const most = entry ? KEPT_ENTRIES : 0;
  const isLong = () => !fitsTail(next) || headLength(next, scope) > MAX_UNSIGNED_HEAD_BYTES;
  while (entriesOf(next) > most || (entriesOf(next) > 0 && isLong())) next = withoutOldest(next);
  if (next.tail.length === 0) next = { ...next, base: rows };
  checkHead(next);
  return next;
}

/** Whether a clone does without the oldest log or entry. */
function isPast({ logs, tail, checkpoint }: HeadRecord): boolean {
  const first = tail[0]?.seq ?? Number.POSITIVE_INFINITY;
  const last = logs.length > 0 ? (logs[1]?.seq ?? first) - 1 : first;
  return last <= checkpoint.seq;
}

/** The head without its oldest log, or entry. */
function withoutOldest(head: HeadRecord): HeadRecord {
  const { logs, base, tail } = head;
  if (logs.length > 0) return { ...head, logs: logs.slice(1) };
  return { ...head, base: tail[0]?.rows ?? base, tail: tail.slice(1) };
}

/** How many entries a head has, in its logs, too. */
function entriesOf({ logs, tail }: HeadRecord): number {
  return logs.reduce((sum, { entries }) => sum + entries, tail.length);
}

function fitsTail(head: HeadRecord): boolean {
  const { logs, tail } = head;
  const total = logs.reduce((sum, { deltaBytes }) => sum + deltaBytes, deltaLengths(tail));
  const isFew = entriesOf(head) <= MAX_TAIL_ENTRIES && logs.length <= MAX_LOGS;
  return isFew && total <= MAX_TAIL_BYTES;
}
