/** The one way by which refs are written. */
import { sameBytes } from '../base/bytes.js';
import type { RefDrop, RefMove, SegmentStore, WriteBatch } from '../storage/segment-store.js';

/**
 * Writes a batch that moves or deletes refs; `false` when one of these does not stand where it should. The answer of
 * a write may be lost, with the connection for instance: then storage is asked whether it took effect, and `'found'`
 * means that it did, but maybe not as durably as was asked for. Calls `onUnknown` before it rejects when nobody can
 * tell.
 */
export async function writeRefs(
  store: SegmentStore,
  batch: WriteBatch,
  onUnknown?: () => void,
): Promise<boolean | 'found'> {
  try {
    return await store.write(batch);
  } catch (cause) {
    const isDone = await tookEffect(store, batch).catch(() => onUnknown?.());
    if (isDone !== true) throw cause;
    return 'found';
  }
}

async function tookEffect(
  store: SegmentStore,
  { segments: [first], move, also = [] }: WriteBatch,
): Promise<boolean> {
  // By their tables: an engine that keeps a part of an aborted transaction may keep segments alone.
  const hasSegments = async () => (await store.load()).tables.some(({ id }) => id === first?.id);
  const isDone = async (change: RefMove | RefDrop) => {
    // It may have been moved on since.
    const moves = await store.history(change.name);
    if ('isDropped' in change) return moves[0]?.generation !== change.expected;
    // Further than is remembered: then the segments alone tell.
    if ((moves.at(-1)?.generation ?? 0) > change.generation) return change === move && !!first;
    return moves.some(
      ({ generation, commitBytes }) =>
        generation === change.generation && sameBytes(commitBytes, change.commitBytes),
    );
  };
  const all = await Promise.all([...(move ? [move] : []), ...also].map(isDone));
  if (all.includes(false)) return false;
  // Another writer may have made the same commit; but segments of a commit have ids of their own.
  return move === undefined || first === undefined || hasSegments();
}
