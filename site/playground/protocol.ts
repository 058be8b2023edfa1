/** The messages between the page and the worker that runs the code. */

import type { Drawing } from './drawing.js';
import type { Beat } from './pulse.js';

export type Keeping = 'memory' | 'idb';

export type ToWorker =
  /** Runs a program; `keeping` says where its stores are kept. */
  | { readonly kind: 'run'; readonly code: string; readonly keeping: Keeping }
  /** Runs a line, which has the last opened store as `db`. */
  | { readonly kind: 'call'; readonly code: string }
  /** Asks for the drawing of the commit with this number. */
  | { readonly kind: 'draw'; readonly nth: number }
  /** Deletes the playground's stores in IndexedDB. */
  | { readonly kind: 'forget' };

/** An error, for the page. */
export interface Failure {
  readonly name: string;
  readonly message: string;
  /** The code of a `HedgerowError`. */
  readonly code?: string;
  /** Its detail, if it has one. */
  readonly detail?: string;
  /** The line in the code, from 1, where the browser reports it. */
  readonly line?: number;
}

/** A line in the list of commits. */
export interface CommitLine {
  readonly store: string;
  readonly branch: string;
  readonly root: string;
}

/** The figures of `db.health.stats()`, when the drawn commit is the newest. */
export interface StoreFigures {
  readonly rows: number;
  readonly levels: readonly {
    readonly level: number;
    readonly nodes: number;
    readonly bytes: number;
  }[];
  readonly segments: number;
  readonly chunks: number;
  readonly storedBytes: number;
  readonly liveBytes: number;
}

export type FromWorker =
  | { readonly kind: 'log'; readonly level: 'log' | 'warn' | 'error'; readonly text: string }
  | { readonly kind: 'commits'; readonly commits: readonly CommitLine[] }
  | {
      readonly kind: 'drawing';
      readonly nth: number;
      readonly drawing: Drawing;
      readonly figures?: StoreFigures;
    }
  | { readonly kind: 'beats'; readonly beats: readonly Beat[]; readonly nowMs: number }
  /** A program or a line has ended; `value` is its result, in words. */
  | { readonly kind: 'end'; readonly value?: string; readonly ms: number }
  | { readonly kind: 'failed'; readonly failure: Failure }
  | { readonly kind: 'forgotten'; readonly stores: number };
