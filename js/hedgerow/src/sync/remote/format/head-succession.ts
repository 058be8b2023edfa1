/** The rules by which one head follows another. */

import { sameBytes } from '../../../base/bytes.js';
import { hex } from '../../../base/hex.js';
import { checkHead } from './check-head-parts.js';
import { fitsHead } from './check-tail-entries.js';
import type { Scope } from './cipher-suite.js';
import { deltaObjectLength } from './delta-object.js';
import { invalidRemote, unwritable } from './field-codec.js';
import {
  MAX_INLINE_DELTA_BYTES,
  MAX_LOGS,
  MAX_TAIL_BYTES,
  MAX_TAIL_ENTRIES,
  MAX_UNSIGNED_HEAD_BYTES,
  SHORT_HEAD_BYTES,
  SHORT_LOG_BYTES,
} from './format-limits.js';
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
import { entriesLength } from './tail-codec.js';

/** The author of a head that replaces another. */
export interface Author {
  readonly writerBytes: Uint8Array;
  /** 16 random bytes, new for each try. */
  readonly nonceBytes: Uint8Array;
  /** BLAKE3 of the bytes of the head that is replaced. */
  readonly previousBytes: Uint8Array;
}

/** A head that came too late or from elsewhere. */
export type HeadMismatch = 'repository' | 'seq' | 'previous';

/** Returns the head that replaces `head` with the same content, for changes to be made to it. */
export function successorOf(head: HeadRecord, author: Author): HeadRecord {
  return { ...head, ...author, seq: head.seq + 1, isCompacting: false };
}

/**
 * Returns why `next` does not replace `head`, whose bytes have the hash `headHashBytes`; `undefined` if it does. A
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
 * Returns the entries that lead from the tree `rootBytes` to the end of a tail: an empty list if it is that end,
 * `undefined` if the tail does not know it. Of a tree that the branch has had twice, the last time counts.
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

/** Returns the logs of a head that have entries after number `seq`; an empty list if its own tail has them all. */
export function logsSince({ logs, tail }: HeadRecord, seq: number): readonly LogRecord[] {
  if (seq + 1 >= (tail[0]?.seq ?? 0)) return [];
  // The last log that begins there or before. It may have later entries: heads without an entry leave gaps.
  const nth = logs.findLastIndex((log) => log.seq <= seq + 1);
  return logs.slice(Math.max(nth, 0));
}

/**
 * Joins the last logs of a head, decoded, and its tail. Throws `remote/data` for a log that is not the one that the
 * head names, or does not lead to the next.
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
  // A checkpoint before the oldest log that was read cannot be checked.
  const isKnown = past.length > 0 || logs.length === head.logs.length;
  if (isKnown && !sameRows(reaches, checkpointRows(checkpoint))) {
    throw invalidRemote('log', 'the tail does not lead on from the checkpoint', 0);
  }
  return joined;
}

/** A head with a new entry, or why there is no such head. */
export type AppendOutcome =
  | { readonly kind: 'head'; readonly head: HeadRecord }
  /** The delta is too long for the head: put it, and append it by name. */
  | { readonly kind: 'spill' }
  /** The head has no space for one more entry: put a log of its tail, and append to `withLog`. */
  | { readonly kind: 'log' }
  /** The tail is full: make a checkpoint first. */
  | { readonly kind: 'checkpoint' };

/**
 * Returns the head that replaces `head` by one more step, to `rows`. If its tail would be too long, it drops logs, then
 * entries, up to the checkpoint, the oldest first. A delta is inline if it has at most 4 KiB. Throws `invalid-argument`
 * if the step changes no row, or is malformed. Costs the length of the head.
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

/** Returns whether a head is short enough for each device to read it at each change. */
function isShort(head: HeadRecord, scope: Scope): boolean {
  const { tail } = head;
  const isFew = tail.length === 1 || entriesLength(tail) <= SHORT_LOG_BYTES;
  return fitsHead(tail) && (isFew || headLength(head, scope) <= SHORT_HEAD_BYTES);
}

/** Returns the head with a log in the place of its tail. It is incomplete until an entry follows. */
export function withLog(head: HeadRecord, record: LogRecord): HeadRecord {
  return { ...head, logs: [...head.logs, record], base: head.rows, tail: [] };
}

/** Most entries that a head keeps from before its checkpoint: for devices that were away for a while. */
const KEPT_ENTRIES = 32;

/**
 * Returns the head that replaces `head` by a checkpoint of `rows`. Its tail ends with `delta`, the step to them, if
 * there is one and the head has space for it, and keeps entries before it, up to 32 in all. Throws `invalid-argument` if
 * the packs alone are too many.
 */
export function withCheckpoint(
  head: HeadRecord,
  rows: RowTree,
  delta: DeltaRecord | undefined,
  { layers, history }: Pick<Checkpoint, 'layers' | 'history'>,
  author: Author,
  scope: Scope,
): HeadRecord {
  const seq = head.seq + 1;
  const { nonceBytes } = author;
  const entry = delta && { seq, nonceBytes, rows, delta };
  let next: HeadRecord = {
    ...successorOf(head, author),
    rows,
    checkpoint: { seq, nonceBytes, history, layers },
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

/** Returns whether a clone does not need the oldest log or entry. */
function isPast({ logs, tail, checkpoint }: HeadRecord): boolean {
  const first = tail[0]?.seq ?? Number.POSITIVE_INFINITY;
  const last = logs.length > 0 ? (logs[1]?.seq ?? first) - 1 : first;
  return last <= checkpoint.seq;
}

/** Returns the head without its oldest log, or entry. */
function withoutOldest(head: HeadRecord): HeadRecord {
  const { logs, base, tail } = head;
  if (logs.length > 0) return { ...head, logs: logs.slice(1) };
  return { ...head, base: tail[0]?.rows ?? base, tail: tail.slice(1) };
}

/** Counts the entries of a head and of its logs. */
function entriesOf({ logs, tail }: HeadRecord): number {
  return logs.reduce((sum, { entries }) => sum + entries, tail.length);
}

function fitsTail(head: HeadRecord): boolean {
  const { logs, tail } = head;
  const total = logs.reduce((sum, { deltaBytes }) => sum + deltaBytes, deltaLengths(tail));
  const isFew = entriesOf(head) <= MAX_TAIL_ENTRIES && logs.length <= MAX_LOGS;
  return isFew && total <= MAX_TAIL_BYTES;
}
