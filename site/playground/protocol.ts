/** What the page and the worker that runs the code say to each other. */

import type { Drawing } from './drawing.js';
import type { Beat } from './pulse.js';

export type Keeping = 'memory' | 'idb';

export type ToWorker =
  /** Runs a program; stores that it opens are kept as `keeping` says. */
  | { readonly kind: 'run'; readonly code: string; readonly keeping: Keeping }
  /** Runs a line, which has the store that was opened last as `db`. */
  | { readonly kind: 'call'; readonly code: string }
  /** Asks for the drawing of the commit with this number. */
  | { readonly kind: 'draw'; readonly nth: number }
  /** Deletes what the playground keeps in IndexedDB. */
  | { readonly kind: 'forget' };

/** What went wrong. */
export interface Failure {
  readonly name: string;
  readonly message: string;
  /** Of a `HedgerowError`. */
  readonly code?: string;
  /** In the code, from 1, where the browser tells. */
  readonly line?: number;
}

/** A line in the list of commits. */
export interface CommitLine {
  readonly store: string;
  readonly branch: string;
  readonly root: string;
}

/** The figures of `db.stats()`, when the drawn commit is the newest. */
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
  /** A program or a line has ended; `value` is what it came to, in words. */
  | { readonly kind: 'end'; readonly value?: string; readonly ms: number }
  | { readonly kind: 'failed'; readonly failure: Failure }
  | { readonly kind: 'forgotten'; readonly stores: number };
