/** What the hostile engine knows of a transaction, and what it counts. */
import type { HostileTransaction } from './objects.js';
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
  isCommitted: boolean;
}

/** What has happened, so that a test knows that it has tested something. */
export interface Happened {
  openings: number;
  transactions: number;
  quotaAborts: number;
  /** Requests of aborted transactions that took effect. */
  partial: number;
  lostConnections: number;
  /** Events of failures that came as far as the database, and in Firefox to the page's handler. */
  heard: number;
}
