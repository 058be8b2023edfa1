/**
 * Lists, rows and counts for Svelte 5, kept up to date as long as a template or an effect shows them. Arguments may be
 * functions; state that these read is followed. Works in plain JavaScript, within components and outside.
 */
import { CONNECTION } from './observed-connection.js';
import { COUNT, ROW, ROWS } from './observed-query.js';
import { createSvelteState } from './svelte-state.js';
import type { UseConnection, UseLive, UseLiveCount, UseLiveRow } from './types.js';

/**
 * Returns the rows of a query, or of a range of a store or a branch, and follows their changes. The state is `loading`
 * without a query or a store, and on a server. When the arguments change, the last rows stay, with `isStale`, until the
 * new ones are there.
 */
export const useLive: UseLive = (...args: unknown[]) => createSvelteState(ROWS, args) as never;

/**
 * Returns the row of a key of a table, store or branch, and follows its changes. It is `loading` without a key, too.
 */
export const useLiveRow: UseLiveRow = (...args: unknown[]) => createSvelteState(ROW, args) as never;

/** Counts the rows of a query, whatever its `offset` and `limit`, or of a range. */
export const useLiveCount: UseLiveCount = (...args: unknown[]) => createSvelteState(COUNT, args);

/**
 * Returns the state of a connection (`db.connect`), and follows its changes. Without a connection, and on a server, it is `stopped`.
 */
export const useConnection: UseConnection = (...args: unknown[]) =>
  createSvelteState(CONNECTION, args) as never;
