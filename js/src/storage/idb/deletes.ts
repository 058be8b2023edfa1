/**
 * Deletions of segments. Each is several transactions, of which any part may take effect without the
 * rest: first what names a segment goes, then the segments that nothing names. So a deletion that
 * was cut off is finished by the next one, and so is a write of which Firefox has kept a part.
 */

import { sameBytes } from '../../base/bytes.js';
import { MIN_HISTORY } from '../../base/limits.js';
import type { Fence } from '../segment-store.js';
import { runIdbTransaction, type TransactionWork, whenAll } from './idb-transaction.js';
import {
  BARE_LENGTH,
  carriedBy,
  lastMoves,
  listMoveKeys,
  type MoveKey,
  movesFrom,
  readRecordBytes,
  refOf,
} from './journal.js';
import { ownerOf } from './pieces.js';
import { putting, REFS } from './put-segments.js';

/**
 * Deletes the tables of segments, and the moves that carry some. A ref must not lose its last moves:
 * what is left of one that carried something is stored first, unless `mayPut` is false, and the record
 * with what it carried goes in a second call, for which this one asks by `'rest'`.
 *
 * The fence is read before any deletion is asked for, and nobody moves it before the transaction is
 * over: so whatever part of them takes effect, it was right to delete it.
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

/** The last `count` moves of each ref, without the second record that one may have. */
function newestMoves(keys: readonly MoveKey[], count: number): MoveKey[] {
  const isTwice = ([name, generation]: MoveKey, [next, other]: Partial<MoveKey>) =>
    name === next && generation === other;
  const single = keys.filter((key, at) => !isTwice(key, keys[at + 1] ?? []));
  return single.filter(([name], at) => single[at + count]?.[0] !== name);
}

/** What is left of a record when the segment that it carries is deleted. */
function withoutCarried(value: unknown): Uint8Array {
  return readRecordBytes(value, BARE_LENGTH).slice(0, BARE_LENGTH);
}

/** What the records of one move have in common. */
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

/** Calls `then` with steps that delete refs. Segments that their moves carry are stored apart before. */
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
