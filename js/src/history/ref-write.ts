/** The one way by which refs are written. */
import { sameBytes } from '../base/bytes.js';
import type { RefDrop, RefMove, SegmentStore, WriteBatch } from '../storage/segment-store.js';

/** What else a write of refs takes. */
export interface RefWriteOptions {
  /** Segments whose tables need not be loaded to find out what became of a write. */
  readonly known?: ReadonlySet<number>;
  /** Called before it rejects when nobody can tell whether refs were moved. */
  readonly onUnknown?: (() => void) | undefined;
}

/**
 * Writes a batch that moves or deletes refs; `false` when one of these does not stand where it should. The answer of
 * a write may be lost, with the connection for instance: then storage is asked whether it took effect, and `'found'`
 * means that it did, but maybe not as durably as was asked for.
 */
export async function writeRefs(
  segments: SegmentStore,
  batch: WriteBatch,
  { known, onUnknown }: RefWriteOptions = {},
): Promise<boolean | 'found'> {
  try {
    return await segments.write(batch);
  } catch (cause) {
    const isDone = await tookEffect(segments, batch, known).catch(() => undefined);
    if (isDone === undefined) onUnknown?.();
    if (isDone !== true) throw cause;
    return 'found';
  }
}

async function tookEffect(
  store: SegmentStore,
  { segments, move, also = [] }: WriteBatch,
  known?: ReadonlySet<number>,
): Promise<boolean> {
  const ids = new Set(segments.map(({ id }) => id));
  const others = new Set([...(known ?? [])].filter((id) => !ids.has(id)));
  const { refs, tables } = await store.load(others);
  // Another writer may have made the same commit, or the next one: segments of a commit have ids of their own.
  if (move !== undefined && ids.size > 0) return tables.some(({ id }) => ids.has(id));
  const isDone = async (change: RefMove | RefDrop): Promise<boolean> => {
    const now = refs.find(({ name }) => name === change.name);
    if (now === undefined || 'isDropped' in change) {
      return 'isDropped' in change && now?.generation !== change.expected;
    }
    const isIt = ({ generation, commitBytes }: RefMove | typeof now) =>
      generation === change.generation && sameBytes(commitBytes, change.commitBytes);
    // It may have been moved on since.
    return (
      isIt(now) ||
      (now.generation > change.generation && (await store.history(change.name)).some(isIt))
    );
  };
  for (const change of move === undefined ? also : [move, ...also])
    if (!(await isDone(change))) return false;
  return true;
}
