/** How one head follows from another. */

import { sameBytes } from '../../base/bytes.js';
import { hex } from '../../base/hex.js';
import {
  type Delta,
  deltaLength,
  type Generation,
  type Head,
  packsOf,
  type Retired,
  type Rows,
  type TailEntry,
} from './head.js';
import { checkHead, inOrder } from './head-check.js';
import { headLength } from './head-codec.js';
import {
  MAX_HEAD_BYTES,
  MAX_HEAD_BYTES_INLINE,
  MAX_INLINE_DELTA_BYTES,
  MAX_TAIL_BYTES,
  MAX_TAIL_ENTRIES,
} from './limits.js';

/** Who replaces a head. */
export interface Author {
  readonly writerBytes: Uint8Array;
  /** 16 random bytes, new for each try. */
  readonly nonceBytes: Uint8Array;
  /** BLAKE3 of the bytes of the head that is replaced. */
  readonly previousBytes: Uint8Array;
}

/** A head that came too late or from elsewhere. */
export type Break = 'repository' | 'seq' | 'previous';

/** The head that replaces `head` and says the same, for changes to be made to it. */
export function successorOf(head: Head, author: Author): Head {
  return { ...head, ...author, seq: head.seq + 1, isCompacting: false };
}

/**
 * Why `next` is no head that replaced `head`, whose bytes have the hash `headHashBytes`; undefined if it is one. A
 * reader that missed heads in between can only check that `seq` has grown.
 */
export function breakBetween(
  next: Head,
  head: Pick<Head, 'repositoryBytes' | 'seq'>,
  headHashBytes: Uint8Array,
): Break | undefined {
  if (!sameBytes(next.repositoryBytes, head.repositoryBytes)) return 'repository';
  if (next.seq !== head.seq + 1) return 'seq';
  return sameBytes(next.previousBytes, headHashBytes) ? undefined : 'previous';
}

/**
 * The entries that lead from the tree `rootBytes` to the head's; none if it is the head's, undefined if the tail does
 * not know it. A tree that the branch has had twice is taken where it was last.
 */
export function entriesSince(head: Head, rootBytes: Uint8Array): readonly TailEntry[] | undefined {
  for (let from = head.tail.length; from >= 0; from--) {
    if (sameBytes(rowsBefore(head, from).rootBytes, rootBytes)) return head.tail.slice(from);
  }
  return undefined;
}

/** The entries after the checkpoint: what a clone applies. */
export function entriesAfterCheckpoint({ tail, checkpoint }: Head): readonly TailEntry[] {
  return tail.filter(({ seq }) => seq > checkpoint.seq);
}

/** Whether this nonce is that of the head or came with an entry of its tail: that try has succeeded. */
export function hasNonce(head: Head, nonceBytes: Uint8Array): boolean {
  const all = [head.nonceBytes, ...head.tail.map((entry) => entry.nonceBytes)];
  return all.some((known) => sameBytes(known, nonceBytes));
}

/** The rows before an entry of the tail; for its length, those of the head. */
function rowsBefore({ base, tail }: Head, nth: number): Rows {
  return tail[nth - 1]?.rows ?? base;
}

/** A head to which an entry was added, or why there is none. */
export type Appended =
  | { readonly kind: 'head'; readonly head: Head }
  /** The delta is too long for the head: put it, and append it by name. */
  | { readonly kind: 'spill' }
  /** The tail is full: make a checkpoint first. */
  | { readonly kind: 'checkpoint' };

/**
 * The head that replaces `head` by one more step, to `rows`. Entries up to the checkpoint leave the tail, the oldest
 * first, when it would be too long; what they have under `d/` is retired. A delta is inline if it has at most 4 KiB and
 * the head has 56 KiB with it. Throws `invalid-argument` if the step changes nothing, or is malformed. Costs the length
 * of the head for each entry that leaves it.
 */
export function withEntry(head: Head, rows: Rows, delta: Delta, author: Author): Appended {
  const entry = { seq: head.seq + 1, nonceBytes: author.nonceBytes, rows, delta };
  const length = deltaLength(entry);
  if (length > MAX_TAIL_BYTES) return { kind: 'checkpoint' };
  const isInline = delta.kind === 'inline';
  if (isInline && length > MAX_INLINE_DELTA_BYTES) return { kind: 'spill' };
  const most = isInline ? MAX_HEAD_BYTES_INLINE : MAX_HEAD_BYTES;
  const longer = { ...successorOf(head, author), rows, tail: [...head.tail, entry] };
  let dropped = 0;
  let next: Head = longer;
  while (!fitsTail(next) || headLength(next) > most) {
    if (!isPast(head, dropped)) {
      return { kind: isInline && fitsTail(next) ? 'spill' : 'checkpoint' };
    }
    dropped += 1;
    next = without(longer, dropped);
  }
  checkHead(next);
  return { kind: 'head', head: next };
}

/** Most entries that a head keeps from before its checkpoint: for devices that were away for a while. */
const KEPT_ENTRIES = 32;

/**
 * The head that replaces `head` by a checkpoint of `rows`. Its tail ends with `delta`, the step to them, if there is one,
 * and keeps the entries before it, as far as half of a head has room for. Packs that the checkpoint does not name any
 * more are retired. Throws `invalid-argument` if the packs alone are too many.
 */
export function withCheckpoint(
  head: Head,
  rows: Rows,
  delta: Delta | undefined,
  generations: readonly Generation[],
  author: Author,
): Head {
  const seq = head.seq + 1;
  const entry = delta && { seq, nonceBytes: author.nonceBytes, rows, delta };
  const named = new Set(packsOf({ seq, generations }).map(({ nameBytes }) => hex(nameBytes)));
  const gone = packsOf(head.checkpoint)
    .filter(({ nameBytes }) => !named.has(hex(nameBytes)))
    .map(({ nameBytes }): Retired => ({ folder: 'p', nameBytes, seq, stamp: undefined }));
  const whole: Head = {
    ...successorOf(head, author),
    rows,
    checkpoint: { seq, generations },
    tail: entry ? [...head.tail, entry] : head.tail,
    retired: inOrder([...head.retired, ...gone]),
  };
  // Without the step itself, no entry leads to the rows.
  let dropped = entry ? Math.max(0, whole.tail.length - KEPT_ENTRIES) : whole.tail.length;
  const { length } = whole.tail;
  const cut = () => ({ ...without(whole, dropped), ...(dropped === length && { base: rows }) });
  let next = cut();
  const isLong = () => !fitsTail(next) || headLength(next) > MAX_HEAD_BYTES_INLINE / 2;
  for (; dropped < length && isLong(); next = cut()) dropped += 1;
  checkHead(next);
  return next;
}

/** Whether a clone does without this entry. */
function isPast({ tail, checkpoint }: Head, nth: number): boolean {
  return (tail[nth]?.seq ?? Number.POSITIVE_INFINITY) <= checkpoint.seq;
}

/** The head without the first entries of its tail. */
function without(head: Head, count: number): Head {
  const dropped = head.tail.slice(0, count).flatMap(({ delta }): Retired[] => {
    if (delta.kind === 'inline') return [];
    return [{ folder: 'd', nameBytes: delta.nameBytes, seq: head.seq, stamp: undefined }];
  });
  const retired = inOrder([...head.retired, ...dropped]);
  return { ...head, base: rowsBefore(head, count), tail: head.tail.slice(count), retired };
}

function fitsTail({ tail }: Head): boolean {
  const total = tail.reduce((sum, entry) => sum + deltaLength(entry), 0);
  return tail.length <= MAX_TAIL_ENTRIES && total <= MAX_TAIL_BYTES;
}
