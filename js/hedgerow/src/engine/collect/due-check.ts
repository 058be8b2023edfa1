/**
 * The rules for when a collection is due. Only a survey finds the number of live bytes, and it reads about a hundredth
 * of the store. Until the next survey the last result counts, scaled down when there are fewer rows.
 *
 * - While writers are at work: when more than twice the live bytes are stored. Fewer dead bytes are enough when a
 *   change in progress has stored much, since its commit may make all older bytes dead.
 * - When writers rest: when an eighth more than the live bytes are stored, or when so much was written that another
 *   survey costs no more than the writes did.
 *
 * Far above these limits writers wait for the collection: see `mustWait`.
 */

/** The stored bytes, and the live bytes among them. */
export interface SpaceUsage {
  /** Bytes of all segments. */
  readonly stored: number;
  /** The part of these bytes that belongs to changes in progress here, which no commit reaches yet. */
  readonly unused: number;
  /** Live bytes at the last survey. */
  readonly live: number;
  /** The count of rows now, as a fraction of the count at the last survey; at most 1. */
  readonly part: number;
  /** Bytes that the last collection could not free, and bytes that it has surveyed. */
  readonly floor: number;
  readonly before: number;
  /** The number of small segments now, and after the last collection. */
  readonly small: number;
  readonly smallBefore: number;
}

/** A collection is due when this much more than twice the live bytes is stored. */
const SLACK_BYTES = 1 << 20;
/** A collection is pressing above this multiple of the live bytes, plus twice the slack. */
const PRESSING = 2.125;
/** Writers wait above this multiple of the live bytes, plus four times the slack. */
const TOO_MUCH = 2.25;
/** Dead bytes that are always allowed while writers rest. */
const REST_SLACK_BYTES = 128 << 10;
/** Bytes that may be written without another survey. */
const LITTLE_BYTES = 64 << 10;
/** Small segments that may be added after a collection. */
const MANY_SMALL = 256;

const liveOf = ({ live, part }: SpaceUsage) => live * part;
const deadOf = (usage: SpaceUsage) => usage.stored - usage.unused - liveOf(usage);

/** Reports whether a collection is likely to free space. */
function isWorthIt(usage: SpaceUsage): boolean {
  return usage.stored - usage.unused > 1.25 * usage.floor || usage.part < 1;
}

/** Reports whether a collection is due while writers are at work. */
export function isCollectionDue(usage: SpaceUsage): boolean {
  if (usage.small > MANY_SMALL + usage.smallBefore) return true;
  const [live, dead] = [liveOf(usage), deadOf(usage)];
  const isMuch = usage.stored > 2 * live + SLACK_BYTES;
  return isMuch && dead > live / 4 + SLACK_BYTES && isWorthIt(usage);
}

/** Reports whether a collection is due after a change found no space: a tenth more than the live bytes is enough. */
export function isDueWhenFull(usage: SpaceUsage): boolean {
  return usage.stored - usage.unused > 1.1 * liveOf(usage) || isCollectionDue(usage);
}

/** Reports whether a collection is due when writers rest. */
export function isDueAtRest(usage: SpaceUsage): boolean {
  const [live, dead] = [liveOf(usage), deadOf(usage)];
  const written = usage.stored - usage.before;
  if (isCollectionDue(usage) || (usage.part < 0.9 && dead > REST_SLACK_BYTES)) return true;
  if (written <= LITTLE_BYTES) return false;
  return dead > live / 8 + REST_SLACK_BYTES || written > live / 64;
}

/** Reports whether a due collection starts at once, instead of at the next check. */
export function isPressing(usage: SpaceUsage): boolean {
  return usage.stored > PRESSING * liveOf(usage) + 2 * SLACK_BYTES && isCollectionDue(usage);
}

/** Reports whether so much is stored that writers wait for the collection. */
export function mustWait(usage: SpaceUsage): boolean {
  return usage.stored > TOO_MUCH * liveOf(usage) + 4 * SLACK_BYTES && isCollectionDue(usage);
}
