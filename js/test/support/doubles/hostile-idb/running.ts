/** What the hostile engine knows of a transaction, and what it counts. */
import type { HostileTransaction, Operation } from './objects.js';
import type { Records } from './records.js';

export type EngineKind = 'chromium' | 'firefox' | 'webkit';

/** A transaction as the engine has it. */
export interface Running {
  readonly transaction: HostileTransaction;
  /** What it has changed, by object store. */
  readonly changed: Map<string, Records>;
  /** Why it cannot be committed. */
  failure: DOMException | undefined;
  /** All before its failure is undone, and each request now takes effect for itself. */
  isBroken: boolean;
  /** After `commit()`: it is told to be complete, since the last of its requests has failed, too. */
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

/** What an operation works on: what the transaction sees, of its own when it is to change that. */
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

/** What has happened, so that a test knows that it has tested something. */
export interface Happened {
  openings: number;
  transactions: number;
  quotaAborts: number;
  /** Requests of aborted transactions that took effect. */
  partial: number;
  /** Transactions that were told to be complete, though requests of them failed and what came before was undone. */
  falselyComplete: number;
  lostConnections: number;
  /** Events of failures that came as far as the database, and in Firefox to the page's handler. */
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
