/**
 * Begins a connection: makes its refs, and resets the refs that cannot be read. The remote has all that a reset loses,
 * so no call has to fail.
 */

import { sameBytes } from '../../base/bytes.js';
import { HedgerowError, isMissing, kindOfError } from '../../base/errors.js';
import { EMPTY_COMMIT } from '../../engine/history/known-segments-and-refs.js';
import type { SharedStore } from '../../engine/history/state-shared-by-branches.js';
import type { Durability } from '../../storage/segment-store.js';
import type { Moves, SyncRefs } from './link-state.js';

/**
 * A ref that a connection has reset. After `origin` the connection is like a new one: the next pull brings all rows of
 * the remote, and merges them. After `fork` that pull also merges, as if both sides had no common state. A reset of the
 * others costs only time.
 */
export type ResetRef = (typeof COMMITS)[number];

const COMMITS = ['origin', 'fork', 'pushing', 'landing', 'checkpoint'] as const;
/** Most tries, while other tabs move the refs. */
const MAX_TRIES = 20;

/** Makes the refs of a connection that are missing or cannot be read. Resolves to the refs that it has reset. */
export async function beginLink(
  shared: SharedStore,
  refs: SyncRefs,
  durability: Durability,
): Promise<ResetRef[]> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    await refs.look();
    const lost = await unreadable(shared, refs);
    // A repair has deleted it.
    if (refs.bytes('origin') === undefined && refs.bytes('turn')) lost.unshift('origin');
    if (await refs.move(beginnings(refs, lost), durability)) return lost;
  }
  throw new HedgerowError(
    'conflict',
    `another tab moved the connection ${MAX_TRIES} times: try again`,
  );
}

/** Finds the refs of a connection whose commits do not open. */
async function unreadable(shared: SharedStore, refs: SyncRefs): Promise<ResetRef[]> {
  const sound: Uint8Array[] = [EMPTY_COMMIT];
  const lost: ResetRef[] = [];
  for (const name of COMMITS) {
    const commitBytes = refs.bytes(name);
    if (commitBytes === undefined || sound.some((one) => sameBytes(one, commitBytes))) continue;
    if (await opens(shared, commitBytes)) sound.push(commitBytes);
    else lost.push(name);
  }
  return lost;
}

async function opens(shared: SharedStore, commitBytes: Uint8Array): Promise<boolean> {
  const open = async () => shared.host.engine.closeView((await shared.openView(commitBytes)).view);
  try {
    await shared.queueWork(open);
    return true;
  } catch (cause) {
    if (!isDamage(cause)) throw cause;
  }
  try {
    // A collection of another tab may have moved the commit.
    await shared.queueWork(() => shared.inventory.load().then(open));
    return true;
  } catch (cause) {
    if (!isDamage(cause)) throw cause;
    return false;
  }
}

function isDamage(cause: unknown): boolean {
  return isMissing(cause) || kindOfError(cause) === 'corrupt-chunk';
}

/** Returns the moves that begin a new connection, or reset each ref of `lost`. */
function beginnings(refs: SyncRefs, lost: readonly ResetRef[]): Moves {
  const [isGone, noFork] = [refs.bytes('origin') === undefined, refs.bytes('fork') === undefined];
  const isNew = isGone || lost.includes('origin');
  return {
    ...(isNew && { origin: EMPTY_COMMIT, ...makeForgetMoves(refs) }),
    ...((isNew || noFork || lost.includes('fork')) && { fork: EMPTY_COMMIT }),
    ...(!isNew && lost.includes('pushing') && { pushing: EMPTY_COMMIT, ...makeTurnMoves(refs) }),
    ...(lost.includes('landing') && { landing: EMPTY_COMMIT, landed: EMPTY_COMMIT }),
    ...(lost.includes('checkpoint') && { checkpoint: EMPTY_COMMIT }),
  };
}

/** Returns the moves that forget the seen head and the push that waits for its answer. The ids and the epoch stay. */
export function makeForgetMoves(refs: SyncRefs): Moves {
  return {
    ...(refs.bytes('seen') && { seen: EMPTY_COMMIT }),
    ...(refs.bytes('turn') && { turn: EMPTY_COMMIT }),
    ...(refs.bytes('push') && { push: EMPTY_COMMIT }),
    ...(refs.bytes('pushing') && { pushing: EMPTY_COMMIT }),
  };
}

/** Returns the moves that keep the number of the last head, and forget the push that waits. */
function makeTurnMoves(refs: SyncRefs): Moves {
  const turn = new Uint8Array(32);
  turn.set(refs.bytes('turn')?.subarray(0, 8) ?? []);
  return { turn };
}
