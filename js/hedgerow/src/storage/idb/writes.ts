/** Writes of segments and moves of refs: one transaction each, whole or not at all. Loaded after the first reads. */

import { sameBytes, toUint8Array } from '../../base/bytes.js';
import type { RefMove, WriteBatch } from '../segment-store.js';
import { dropRefs } from './deletes.js';
import { inTurn, REFS, runIdbTransaction, STORES, whenAll } from './idb-transaction.js';
import { isCarried, movesFrom, recordOf, sweptBy } from './move-records.js';
import { putting } from './put-segments.js';
import {
  buildMalformedError,
  COUNTER_KEY,
  isWhole,
  listMoveKeys,
  type MoveKey,
} from './ref-journal.js';

/** Reserves the next number of a writer. */
export function reserveOnce(db: IDBDatabase): Promise<number> {
  return runIdbTransaction(db, REFS, 'readwrite', 'relaxed', (work) => {
    const refs = work.store('refs');
    work.after(refs.get(COUNTER_KEY), (last: unknown = 0) => {
      if (!isWhole(last)) throw buildMalformedError('counter');
      refs.put(last + 1, COUNTER_KEY);
      work.commit(last + 1);
    });
  });
}

/** Writes a batch, whose bytes have buffers of their own. */
export function writeOnce(
  db: IDBDatabase,
  batch: WriteBatch,
  carriers: Map<number, MoveKey>,
  repetition: number,
): Promise<boolean> {
  return batch.move === undefined && batch.also === undefined
    ? putOnce(db, batch)
    : moveOnce(db, batch, carriers, repetition);
}

/** Writes segments that no ref needs yet. */
function putOnce(db: IDBDatabase, { segments, durability }: WriteBatch): Promise<boolean> {
  return runIdbTransaction(db, ['segments', 'tables'], 'readwrite', durability, (work) => {
    inTurn(work, putting(work, segments), () => work.commit(true));
  });
}

/**
 * Moves refs, and writes what their commits need. Makes the first request at once, on the guess that the refs stand as
 * expected; undoes it if they do not. A question first would cost a second way to the database's process and back,
 * which is most of the cost of a small write.
 */
async function moveOnce(
  db: IDBDatabase,
  { segments, move, also = [], durability }: WriteBatch,
  carriers: Map<number, MoveKey>,
  repetition: number,
): Promise<boolean> {
  const changes = move === undefined ? also : [move, ...also];
  const moves = changes.filter((change) => !('isDropped' in change)) as RefMove[];
  const drops = changes.filter((change) => 'isDropped' in change);
  const isSmall = drops.length === 0;
  const carried = move !== undefined && isSmall && isCarried(segments) ? segments[0] : undefined;
  const apart = carried === undefined ? segments : [];
  const records = moves.map((one) => recordOf(one, one === move ? carried : undefined));
  const moved = await runIdbTransaction<boolean>(
    db,
    isSmall && apart.length === 0 ? REFS : STORES,
    'readwrite',
    durability,
    (work) => {
      const refs = work.store('refs');
      // Ask before the moves, so that the answer is here when the moves are answered.
      const old = moves.flatMap(({ name, generation }) => {
        const swept = sweptBy(name, generation);
        return swept === undefined ? [] : [refs.getAllKeys(swept)];
      });
      const firstKey = records[0]?.key;
      const before: IDBRequest<unknown> | undefined =
        repetition > 0 && firstKey !== undefined ? refs.get(firstKey) : undefined;
      const stood = changes.map(({ name, expected }) => refs.getAllKeys(movesFrom(name, expected)));
      // Refs come last: they are only right after the segments that they need.
      const steps = [
        ...putting(work, apart),
        ...records.map(
          ({ key, bytes }) =>
            () =>
              refs.put(bytes, key),
        ),
      ];
      // A drop of refs needs more reads first.
      const begun = isSmall ? steps[0]?.() : undefined;
      if (begun !== undefined) steps[0] = () => begun;
      whenAll(work, stood, (found) => {
        const keys = found.map((one) => listMoveKeys(one));
        if (changes.every(({ expected }, at) => isLast(keys[at] ?? [], expected))) {
          dropRefs(work, drops, (dropSteps) => {
            inTurn(work, [...steps, ...dropSteps], () => {
              // These deletions are right even if the move fails: see `sweptBy`. They come behind it, since a deletion
              // that finds no space undoes the requests before it.
              for (const key of listMoveKeys(old.flatMap(({ result }) => result))) {
                if (key.length === 2) refs.delete(key);
              }
              work.commit(true);
            });
          });
        } else if (repetition === 0) work.undo(false);
        // The first attempt may have been committed after all.
        else if (before === undefined) work.undo(keys.every(({ length }) => length === 0));
        else work.undo(sameBytes(toUint8Array(before.result), records[0]?.bytes));
      });
    },
  );
  const key = records[0]?.key;
  if (moved && carried !== undefined && key !== undefined) carriers.set(carried.id, key);
  return moved;
}

/** Returns whether a ref stands at a generation, by the keys of its moves from there on; 0 means no ref. */
function isLast(keys: readonly MoveKey[], expected: number): boolean {
  // One move may have two records: see `deleteOnce`.
  return expected === 0
    ? keys.length === 0
    : keys.length > 0 && keys.every(([, generation]) => generation === expected);
}

/** Gives each segment and table a buffer of its own, which a transaction stores. */
export function exact(batch: WriteBatch): WriteBatch {
  const segments = batch.segments.map(({ id, segmentBytes, tableBytes }) => ({
    id,
    segmentBytes: exactBytes(segmentBytes),
    tableBytes: exactBytes(tableBytes),
  }));
  // Records of moves have their own bytes.
  return { ...batch, segments };
}

/**
 * Returns the bytes in a buffer of their own length, since IndexedDB stores the whole buffer of a view. Copies only a
 * view, without `slice`, which for a Node `Buffer` makes a view again.
 */
function exactBytes(bytes: Uint8Array): Uint8Array {
  return bytes.length === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes);
}
