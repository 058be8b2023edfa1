/** `hedgerowPersistence`: a store as the persistence of collections with another source of rows. */

import type { Store } from 'hedgerow';
import {
  anything,
  checkHas,
  checkKey,
  HedgerowError,
  type OptionsOf,
  optionsOf,
  shownAs,
} from 'hedgerow/kit';
import { Adapter, type PersistenceSettings } from './persistence-adapter.js';
import { Coordinator } from './persistence-coordinator.js';
import type { HedgerowPersistence } from './persistence-types.js';

const PERSISTENCE_OPTIONS = {
  /** The prefix of the keys of all persisted collections; `'tanstack-db/'` by default. */
  prefix: anything<string>(),
  /**
   * The treatment of rows that were written with another `schemaVersion`: `'reset'` drops them, `'error'` rejects. By
   * default, rows of a synchronised collection are dropped, since they come again; other rows are an error.
   */
  schemaMismatch: anything<'reset' | 'error'>(),
  /** The number of transactions that are kept of each collection, for tabs that have missed some; 1,000 by default. */
  keptTransactions: anything<number>(),
};

/** Options of `hedgerowPersistence`. */
export interface HedgerowPersistenceOptions extends OptionsOf<typeof PERSISTENCE_OPTIONS> {}

const KEPT = 1_000;

/** Makes the `persistence` of `persistedCollectionOptions` of TanStack DB, which keeps collections in this store. */
export function hedgerowPersistence(
  db: Store,
  options: HedgerowPersistenceOptions = {},
): HedgerowPersistence {
  checkHas('hedgerowPersistence', db, 'transaction', 'a store, or a branch of one');
  const given = optionsOf('hedgerowPersistence', options, PERSISTENCE_OPTIONS);
  const { prefix = 'tanstack-db/', schemaMismatch, keptTransactions: kept = KEPT } = given;
  checkKey(prefix, 'prefix');
  if (schemaMismatch !== undefined && schemaMismatch !== 'reset' && schemaMismatch !== 'error') {
    refuse(`schemaMismatch must be reset or error, not ${shownAs(schemaMismatch)}`);
  }
  if (!Number.isSafeInteger(kept) || kept < 1) {
    refuse(`keptTransactions must be a whole number from 1 on, not ${shownAs(kept)}`);
  }
  const adapters = new Map<string, HedgerowPersistence>();
  const of = (schema: number, onOther: PersistenceSettings['onOther']): HedgerowPersistence => {
    const name = `${schema} ${onOther}`;
    let found = adapters.get(name);
    if (found === undefined) {
      const adapter = new Adapter(db, { prefix, schema, onOther, kept });
      found = {
        adapter,
        coordinator: new Coordinator(db, adapter),
        resolvePersistenceForCollection: ({ mode, schemaVersion = 1 }) =>
          of(schemaVersion, schemaMismatch ?? (mode === 'sync-present' ? 'reset' : 'error')),
      };
      adapters.set(name, found);
    }
    return found;
  };
  return of(1, schemaMismatch ?? 'error');
}

function refuse(message: string): never {
  throw new HedgerowError('invalid-argument', `hedgerowPersistence ${message}`);
}
