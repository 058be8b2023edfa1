/**
 * When a store is to be collected. What is live is only known when it has been looked at, which costs a
 * hundredth of it. Until then it counts as what it was, in proportion to the rows when they have become
 * fewer.
 *
 * - While writers are at work: when more than twice what is live is stored. Less dead bytes will do
 *   when a change under way has stored much of its own, since at its commit all from before may be dead.
 * - When they rest: when an eighth more than is live is stored, or so much was written that another look
 *   costs no more than that did.
 *
 * Far above that, writers wait for the collection: see `mustWait`.
 */

/** What is stored, in bytes. */
export interface Room {
  /** Bytes of all segments. */
  readonly stored: number;
  /** Of these, bytes of changes under way here, which no commit reaches yet. */
  readonly unused: number;
  /** What was live when that was last known. */
  readonly live: number;
  /** Rows now, for each row there was then; at most 1. */
  readonly part: number;
  /** What the last collection could not free; and what is stored of which another look would tell nothing. */
  readonly floor: number;
  readonly before: number;
  /** Small segments now, and those that the last collection left. */
  readonly small: number;
  readonly smallBefore: number;
}

/** A collection is due when this much more than twice what is live is stored. */
const SLACK_BYTES = 1 << 20;
/** For what is live, and twice the slack: then it is pressing. */
const PRESSING = 2.125;
/** For what is live, and four times the slack: then writers wait. */
const TOO_MUCH = 2.25;
/** When they rest, so much may be dead in any case. */
const REST_SLACK_BYTES = 128 << 10;
/** So little may be written without another look. */
const LITTLE_BYTES = 64 << 10;
/** So many segments may be small. */
const MANY_SMALL = 256;

const liveOf = ({ live, part }: Room) => live * part;
const deadOf = (room: Room) => room.stored - room.unused - liveOf(room);

/** Whether a collection can free something, for all that is known. */
function isWorthIt(room: Room): boolean {
  return room.stored - room.unused > 1.25 * room.floor || room.part < 1;
}

/** Whether a collection is due while writers are at work. */
export function isDue(room: Room): boolean {
  if (room.small > MANY_SMALL + room.smallBefore) return true;
  const [live, dead] = [liveOf(room), deadOf(room)];
  const isMuch = room.stored > 2 * live + SLACK_BYTES;
  return isMuch && dead > live / 4 + SLACK_BYTES && isWorthIt(room);
}

/** Whether one is due when storage had no room for a change: what is dead is to go, though it may not be much. */
export function isDueWhenFull(room: Room): boolean {
  return room.stored - room.unused > 1.1 * liveOf(room) || isDue(room);
}

/** Whether one is due when writers rest. */
export function isDueAtRest(room: Room): boolean {
  const [live, dead] = [liveOf(room), deadOf(room)];
  const written = room.stored - room.before;
  if (isDue(room) || (room.part < 0.9 && dead > REST_SLACK_BYTES)) return true;
  if (written <= LITTLE_BYTES) return false;
  return dead > live / 8 + REST_SLACK_BYTES || written > live / 64;
}

/** Whether one that is due must not wait until there is time. */
export function isPressing(room: Room): boolean {
  return room.stored > PRESSING * liveOf(room) + 2 * SLACK_BYTES && isDue(room);
}

/** Whether so much is stored that writers have to wait for it. */
export function mustWait(room: Room): boolean {
  return room.stored > TOO_MUCH * liveOf(room) + 4 * SLACK_BYTES && isDue(room);
}
