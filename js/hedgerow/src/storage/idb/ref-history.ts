/** Reads the last moves of a ref, for repairs of a store. */
import { MAX_HISTORY } from '../../base/limits.js';
import type { Ref } from '../segment-store.js';
import { runIdbTransaction } from './idb-transaction.js';
import { movesFrom } from './move-records.js';
import { listMoveKeys, refOf } from './ref-journal.js';

/** Implements `SegmentStore.history`. */
export function historyOnce(db: IDBDatabase, name: string): Promise<Ref[]> {
  return runIdbTransaction(db, ['refs'], 'readonly', 'relaxed', (work) => {
    const found: Ref[] = [];
    const cursors = work.store('refs').openCursor(movesFrom(name, 0), 'prev');
    work.after(cursors, (cursor) => {
      if (cursor === null || found.length === MAX_HISTORY) return work.answer(found);
      // A malformed record does not hide the records before it.
      try {
        const [key] = listMoveKeys([cursor.key]);
        // One move may have two records.
        const isNew = key !== undefined && found.at(-1)?.generation !== key[1];
        if (isNew) found.push(refOf(key, cursor.value));
      } catch {}
      cursor.continue();
    });
  });
}
