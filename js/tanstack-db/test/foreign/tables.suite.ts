/** The end-to-end suites of TanStack DB on tables of Hedgerow. */
import { createCollection } from '@tanstack/db';
import { afterAll, afterEach, beforeAll, describe } from 'vitest';
import { memory, open, rowType, table } from '../../../hedgerow/src/index.js';
import { hedgerowCollectionOptions } from '../../src/index.js';
import { e2eConfig } from './e2e-config.js';
import { generateSeedData, runSuites } from './suites.js';

interface User {
  id: string;
  name: string;
  email: string | null;
  age: number;
  isActive: boolean;
  createdAt: Date;
  metadata: Record<string, unknown> | null;
  deletedAt: Date | null;
}
interface Post {
  id: string;
  userId: string;
  title: string;
  viewCount: number;
  largeViewCount: bigint;
  publishedAt: Date | null;
  deletedAt: Date | null;
}
interface Comment {
  id: string;
  postId: string;
  userId: string;
  text: string;
  createdAt: Date;
}

const tables = {
  users: table({
    schema: rowType<User>(),
    key: 'id',
    values: 'structured',
    indexes: {
      byAge: ['age'],
      byName: ['name'],
      byCreated: ['createdAt'],
      active: ['isActive', 'age'],
      byEmail: ['email'],
    },
  }),
  posts: table({
    schema: rowType<Post>(),
    key: 'id',
    values: 'structured',
    indexes: { byUser: ['userId', 'viewCount'], byViews: ['viewCount'], byTime: ['publishedAt'] },
  }),
  comments: table({
    schema: rowType<Comment>(),
    key: 'id',
    values: 'structured',
    indexes: { byPost: ['postId', 'createdAt'], byUser: ['userId'] },
  }),
};

/** One handle has the collections; another one writes rows, as another tab would. */
const storage = { ...memory(), isShared: true };
let config: ReturnType<typeof e2eConfig>;

beforeAll(async () => {
  const opening = { storage, tables };
  const [db, other] = await Promise.all([open('e2e', opening), open('e2e', opening)]);
  const seed = generateSeedData();
  await other.users.putMany(seed.users);
  await other.posts.putMany(seed.posts);
  await other.comments.putMany(seed.comments);
  await Promise.all([db.users.ready(), db.posts.ready(), db.comments.ready()]);
  const pair = (of: typeof db.users) => ({
    eager: createCollection(hedgerowCollectionOptions({ table: of, startSync: true })),
    onDemand: createCollection(
      hedgerowCollectionOptions({ table: of, startSync: true, syncMode: 'on-demand' }),
    ),
  });
  const pairs = {
    users: pair(db.users),
    posts: pair(db.posts as never),
    comments: pair(db.comments as never),
  };
  await Promise.all(Object.values(pairs).map(({ eager }) => eager.preload()));
  config = e2eConfig(
    pairs,
    {
      insertUser: (user) => other.users.insert(user as User),
      updateUser: (id, updates) => other.users.update(id, updates),
      deleteUser: (id) => other.users.delete(id),
      insertPost: (post) => other.posts.insert(post as Post),
    },
    () => Promise.all([db.close(), other.close()]),
  );
});
afterEach(() => config.afterEach());
afterAll(() => config.teardown());

describe('tables', () => runSuites(async () => config));
