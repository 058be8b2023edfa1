/**
 * Lists, rows and counts for Solid, kept up to date until their owner is disposed. Arguments may be functions; signals
 * that these read are followed.
 */
import { CONNECTION } from './observed-connection.js';
import { COUNT, ROW, ROWS } from './observed-query.js';
import { createSolidState } from './solid-state.js';
import type { UseConnection, UseLive, UseLiveCount, UseLiveRow } from './types.js';

/**
 * Returns the rows of a query, or of a range of a store or a branch, and follows their changes. The state is `loading`
 * without a query or a store, and on a server. When the arguments change, the last rows stay, with `isStale`, until the
 * new ones are there.
 */
export const useLive: UseLive = (...args: unknown[]) => createSolidState(ROWS, args) as never;

/**
 * Returns the row of a key of a table, store or branch, and follows its changes. It is `loading` without a key, too.
 */
export const useLiveRow: UseLiveRow = (...args: unknown[]) => createSolidState(ROW, args) as never;

/** Counts the rows of a query, whatever its `offset` and `limit`, or of a range. */
export const useLiveCount: UseLiveCount = (...args: unknown[]) => createSolidState(COUNT, args);

/**
 * Returns the state of a connection (`db.connect`), and follows its changes. Without a connection, and on a server, it is `stopped`.
 */
export const useConnection: UseConnection = (...args: unknown[]) =>
  createSolidState(CONNECTION, args) as never;
