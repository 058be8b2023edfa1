/**
 * Deletes segments, in several transactions. Any part of them may take effect without the rest: the names of segments
 * go first, then the segments without a name. So the next deletion finishes one that was cut off, and removes what
 * Firefox has kept of a failed write.
 */

import { sameBytes } from '../../base/bytes.js';
import { MIN_HISTORY } from '../../base/limits.js';
import type { Fence } from '../segment-store.js';
import { REFS, runIdbTransaction, type TransactionWork, whenAll } from './idb-transaction.js';
import { movesFrom } from './move-records.js';
import { putting } from './put-segments.js';
import {
  BARE_LENGTH,
  carriedBy,
  lastMoves,
  listMoveKeys,
  type MoveKey,
  readRecordBytes,
  refOf,
} from './ref-journal.js';
import { ownerOf } from './segment-pieces.js';

/**
 * Deletes the tables of segments, and the moves that carry some. A ref must not lose its last moves. So for a move that
 * carries a segment it first stores a record without it, unless `mayPut` is false, and resolves to `'rest'`: a second
 * call deletes the old record.
 *
 * It reads the fence before it requests any deletion, and no other transaction moves the fence before this one ends: so
 * each part that takes effect was right to delete.
 */
export function deleteOnce(
  db: IDBDatabase,
  unwanted: ReadonlySet<number>,
  mayPut: boolean,
  fence?: Fence,
): Promise<'done' | 'rest' | 'refused'> {
  return runIdbTransaction(db, REFS, 'readwrite', 'relaxed', (work) => {
    const refs = work.store('refs');
    work.after(refs.getAllKeys(), (keys) => {
      const moves = listMoveKeys(keys);
      const at = fence && lastMoves(moves).find(([name]) => name === fence.name);
      whenAll(work, at ? [refs.get(at)] : [], ([value]: unknown[]) => {
        if (fence && !sameBytes(at && refOf(at, value).commitBytes, fence.commitBytes)) {
          work.undo('refused');
        } else deleteNow(work, unwanted, moves, mayPut);
      });
    });
  });
}

function deleteNow(
  work: TransactionWork<'done' | 'rest'>,
  unwanted: ReadonlySet<number>,
  moves: readonly MoveKey[],
  mayPut: boolean,
): void {
  const refs = work.store('refs');
  for (const id of unwanted) work.store('tables').delete(id);
  const last = new Set(newestMoves(moves, MIN_HISTORY).map(placeOf));
  const bare = new Set(moves.filter((key) => key.length === 2).map(placeOf));
  const carriers = moves.filter(([, , id]) => id !== undefined && unwanted.has(id));
  const isHeld = (key: MoveKey) => last.has(placeOf(key)) && !bare.has(placeOf(key));
  for (const key of carriers) if (!isHeld(key)) refs.delete(key);
  for (const key of moves) if (key.length === 2 && !last.has(placeOf(key))) refs.delete(key);
  const held = mayPut ? carriers.filter(isHeld) : [];
  const values = held.map((key): IDBRequest<unknown> => refs.get(key));
  whenAll(work, values, (found) => {
    for (const [at, [name, generation]] of held.entries()) {
      refs.put(withoutCarried(found[at]), [name, generation]);
    }
    work.commit(held.length > 0 ? 'rest' : 'done');
  });
}

/** Returns the last `count` moves of each ref, without the second record that one may have. */
function newestMoves(keys: readonly MoveKey[], count: number): MoveKey[] {
  const isTwice = ([name, generation]: MoveKey, [next, other]: Partial<MoveKey>) =>
    name === next && generation === other;
  const single = keys.filter((key, at) => !isTwice(key, keys[at + 1] ?? []));
  return single.filter(([name], at) => single[at + count]?.[0] !== name);
}

/** Returns a record without the segment that it carries. */
function withoutCarried(value: unknown): Uint8Array {
  return readRecordBytes(value, BARE_LENGTH).slice(0, BARE_LENGTH);
}

/** Returns the text that the records of one move share. */
function placeOf([name, generation]: MoveKey): string {
  return `${generation} ${name}`;
}

/** Deletes the segments that no table names. */
export function sweepOnce(db: IDBDatabase): Promise<void> {
  return runIdbTransaction<void>(db, ['segments', 'tables'], 'readwrite', 'relaxed', (work) => {
    const segments = work.store('segments');
    whenAll(work, [work.store('tables').getAllKeys(), segments.getAllKeys()], ([named, all]) => {
      const names = new Set(named);
      for (const key of all ?? []) {
        const owner = ownerOf(key);
        if (owner === undefined || !names.has(owner)) segments.delete(key);
      }
      work.commit();
    });
  });
}

/** Calls `then` with steps that delete refs, after steps that store the segments of their moves apart. */
export function dropRefs<T>(
  work: TransactionWork<T>,
  drops: readonly { readonly name: string }[],
  then: (steps: (() => IDBRequest)[]) => void,
): void {
  const refs = work.store('refs');
  const all = drops.map(({ name }) => refs.getAllKeys(movesFrom(name, 0)));
  whenAll(work, all, (found) => {
    const keys = listMoveKeys(found.flat()).filter(([, , id]) => id !== undefined);
    const values = keys.map((key): IDBRequest<unknown> => refs.get(key));
    whenAll(work, values, (carrying) => {
      const segments = keys.map(([, , id], at) => ({
        id: id as number,
        ...carriedBy(carrying[at]),
      }));
      then([
        ...putting(work, segments),
        ...drops.map(
          ({ name }) =>
            () =>
              refs.delete(movesFrom(name, 0)),
        ),
      ]);
    });
  });
}
