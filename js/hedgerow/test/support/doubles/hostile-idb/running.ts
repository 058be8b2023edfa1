/** A transaction as the hostile engine has it, and the engine's counts. */
import type { HostileTransaction, Operation } from './objects.js';
import type { Records } from './records.js';

export type EngineKind = 'chromium' | 'firefox' | 'webkit';

/** A transaction as the engine has it. */
export interface Running {
  readonly transaction: HostileTransaction;
  /** The stores that it has changed, by name. */
  readonly changed: Map<string, Records>;
  /** Why it cannot be committed. */
  failure: DOMException | undefined;
  /** Everything before its failure is undone, and each request now takes effect singly. */
  isBroken: boolean;
  /** Its last request failed after `commit()`, and the engine reports it as complete. */
  endsComplete: boolean;
  isCommitted: boolean;
}

export function runningOf(transaction: HostileTransaction): Running {
  return {
    transaction,
    changed: new Map(),
    failure: undefined,
    isBroken: false,
    endsComplete: false,
    isCommitted: false,
  };
}

/** Returns the records that an operation sees; for a write, the transaction's own copy. */
export function recordsOf(
  { transaction, changed }: Running,
  { store, writes }: Operation,
): Records {
  const now = changed.get(store) ?? (transaction.db.stores.get(store) as Records);
  if (writes === undefined || changed.has(store)) return now;
  const own = now.copy();
  changed.set(store, own);
  return own;
}

/** Bytes by which a transaction has made its database larger so far. */
export function growthOf({ transaction, changed }: Running): number {
  let sum = 0;
  for (const [name, { bytes }] of changed) {
    sum += bytes - (transaction.db.stores.get(name)?.bytes ?? 0);
  }
  return sum;
}

/** Counts of events: a test uses them to check that its case occurred. */
export interface Happened {
  openings: number;
  transactions: number;
  quotaAborts: number;
  /** Requests of aborted transactions that took effect. */
  partial: number;
  /** Transactions that were reported as complete although requests failed and earlier ones were undone. */
  falselyComplete: number;
  lostConnections: number;
  /** Events of failures that reached the database, and in Firefox the page's handler. */
  heard: number;
}

export function nothingHappened(): Happened {
  return {
    openings: 0,
    transactions: 0,
    quotaAborts: 0,
    partial: 0,
    falselyComplete: 0,
    lostConnections: 0,
    heard: 0,
  };
}
