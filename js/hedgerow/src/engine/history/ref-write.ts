/** The only way to write refs. */
import { sameBytes } from '../../base/bytes.js';
import type { RefDrop, RefMove, SegmentStore, WriteBatch } from '../../storage/segment-store.js';

/**
 * Writes a batch that moves or deletes refs; `false` when a ref does not have its expected generation. If the answer is
 * lost, with the connection for instance, reads storage to find whether the write took effect. `'found'` means that it
 * did, maybe with less durability than the batch asked for. Calls `onUnknown` and rejects when storage cannot show it.
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
  // Checks tables: a browser that keeps a part of an aborted transaction may keep only the segments.
  const hasSegments = async () => (await store.load()).tables.some(({ id }) => id === first?.id);
  const isDone = async (change: RefMove | RefDrop) => {
    // Others may have moved the ref on since.
    const moves = await store.history(change.name);
    if ('isDropped' in change) return moves[0]?.generation !== change.expected;
    // The ref has moved past its history: then only the segments can show the move.
    if ((moves[moves.length - 1]?.generation ?? 0) > change.generation)
      return change === move && !!first;
    return moves.some(
      ({ generation, commitBytes }) =>
        generation === change.generation && sameBytes(commitBytes, change.commitBytes),
    );
  };
  const all = await Promise.all([...(move ? [move] : []), ...also].map(isDone));
  if (all.includes(false)) return false;
  // Another writer may have made the same commit, but its segments have other ids.
  return move === undefined || first === undefined || hasSegments();
}
