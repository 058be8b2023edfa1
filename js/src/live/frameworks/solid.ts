/**
 * For Solid: lists, rows and counts that are kept up to date until their owner is disposed. Arguments may be functions: what
 * these read is followed.
 */
import { COUNT, ROW, ROWS } from './observed.js';
import { createSolidState } from './solid-state.js';
import type { UseLive, UseLiveCount, UseLiveRow } from './types.js';

/**
 * The rows of a query, or of a range of a store or a branch, now and whenever one of them changes. Without a query or a
 * store, and on a server, it is `loading`. When the arguments change, the rows shown last stay, with `isStale`, until the new
 * ones are there.
 */
export const useLive: UseLive = (...args: unknown[]) => createSolidState(ROWS, args) as never;

/** The row of a key of a table, or of a store or a branch, now and whenever it changes. Without a key it is `loading`, too. */
export const useLiveRow: UseLiveRow = (...args: unknown[]) => createSolidState(ROW, args) as never;

/** The number of rows of a query, whatever its `offset` and `limit`, or of a range. */
export const useLiveCount: UseLiveCount = (...args: unknown[]) => createSolidState(COUNT, args);
