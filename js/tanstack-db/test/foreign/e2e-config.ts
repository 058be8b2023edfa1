/**
 * The configuration of the end-to-end suites of TanStack DB: collections with their seed, and writers of rows behind
 * these.
 */
import type { Collection } from '@tanstack/db';

export interface Id {
  readonly id: string;
}

// biome-ignore lint/suspicious/noExplicitAny: rows of the suites
type Any = any;

/** Collections of one table, eager and on demand. */
export interface Pair {
  readonly eager: Collection<Any, Any, Any, Any, Any>;
  readonly onDemand: Collection<Any, Any, Any, Any, Any>;
}

/** Writes rows of the tables of the suites. */
export interface Writers {
  insertUser(user: Id): Promise<unknown>;
  updateUser(id: string, updates: object): Promise<unknown>;
  deleteUser(id: string): Promise<unknown>;
  insertPost(post: Id): Promise<unknown>;
}

/** The configuration of the suites. */
export function e2eConfig(
  pairs: Record<'users' | 'posts' | 'comments', Pair>,
  mutations: Writers,
  close: () => Promise<unknown>,
) {
  const { users, posts, comments } = pairs;
  const onDemand = [users, posts, comments].map((one) => one.onDemand);
  const all = [...onDemand, ...[users, posts, comments].map((one) => one.eager)];
  return {
    collections: {
      eager: { users: users.eager, posts: posts.eager, comments: comments.eager },
      onDemand: { users: users.onDemand, posts: posts.onDemand, comments: comments.onDemand },
    },
    mutations,
    hasReplicationLag: true,
    setup: async () => {},
    /** Empties the collections before the next test. */
    afterEach: async () => {
      await Promise.all(onDemand.map((one) => one.cleanup()));
      for (const one of onDemand) one.startSyncImmediate();
    },
    teardown: async () => {
      await Promise.all(all.map((one) => one.cleanup()));
      await close();
    },
  };
}
