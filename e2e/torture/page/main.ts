/** The functions that the driver calls in the page. */
import { destroy, memory, open } from 'hedgerow';
import { check } from './check.js';
import { Control } from './control.js';
import { disconnectAt } from './disconnect.js';
import { checkFull, fillUp } from './full.js';
import { fill } from './quota.js';
import type { Plan } from './script.js';
import { editFirst, startSyncing } from './sync.js';
import { lookSynced, settle } from './sync-look.js';
import { collectorOf, startWriting } from './write.js';

const calls = {
  startWriting,
  check,
  fill,
  disconnectAt,
  fillUp,
  checkFull,
  startSyncing,
  editFirst,
  lookSynced,
  settle,
  /** Whether there is a collection to kill. */
  canCollect: async () => {
    const db = await open('any', { storage: memory() });
    await db.close();
    return collectorOf(db) !== undefined;
  },
  /** Deletes the stores of a plan. */
  remove: async (plan: Plan) => {
    await destroy(plan.store);
    await new Promise<void>((resolve, reject) => {
      const request = indexedDB.deleteDatabase(Control.databaseName(plan));
      request.onsuccess = () => resolve();
      request.onerror = () => reject(request.error);
    });
  },
};

declare global {
  var torture: typeof calls;
}

globalThis.torture = calls;
