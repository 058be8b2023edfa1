/** Types of collections of tables. */

import { hedgerowCollectionOptions, hedgerowPersistence } from '@hedgerow/tanstack-db';
import { createCollection, createLiveQueryCollection, createTransaction, eq } from '@tanstack/db';
import { open, rowType, table } from 'hedgerow';

interface Issue {
  id: string;
  status: 'open' | 'closed';
  owner?: string;
}
interface Comment {
  issue: string;
  number: number;
  text: string;
}

const issues = table({ schema: rowType<Issue>(), key: 'id', indexes: { byState: ['status'] } });
const comments = table({ schema: rowType<Comment>(), key: ['issue', 'number'] });
const numbers = table({ schema: rowType<{ n: number; text: string }>(), key: ['n'] });
const db = await open('app', { tables: { issues, comments, numbers } });

const all = createCollection(hedgerowCollectionOptions({ table: db.issues }));
const one: Issue | undefined = all.get('4711');
all.insert({ id: '4711', status: 'open' });
// @ts-expect-error: no such status
all.insert({ id: '4711', status: 'done' });
all.update('4711', (draft) => {
  draft.status = 'closed';
  // @ts-expect-error: no number
  draft.owner = 1;
});
// @ts-expect-error: keys are strings
all.get(4711);
const ready: Promise<void> = all.utils.ready();

// A key of several parts is a text.
const said = createCollection(
  hedgerowCollectionOptions({ table: db.comments, syncMode: 'on-demand', id: 'comments' }),
);
said.get(JSON.stringify(['4711', 1]));
// @ts-expect-error: a list is no key
said.get(['4711', 1]);
const counted = createCollection(hedgerowCollectionOptions({ table: db.numbers }));
counted.get(1);

const open_ = createLiveQueryCollection((q) =>
  q.from({ issue: all }).where(({ issue }) => eq(issue.status, 'open')),
);
const owners: (string | undefined)[] = open_.toArray.map(({ owner }) => owner);

createTransaction({ mutationFn: ({ transaction }) => all.utils.acceptMutations(transaction) });
hedgerowCollectionOptions({
  table: db.issues,
  onInsert: async ({ transaction, collection }) => {
    const made: Issue | undefined = transaction.mutations[0]?.modified;
    await collection.utils.acceptMutations(transaction);
    return made;
  },
});

// @ts-expect-error: no table of a store
hedgerowCollectionOptions({ table: issues });
// @ts-expect-error: the table has the key
hedgerowCollectionOptions({ table: db.issues, getKey: ({ id }) => id });
// @ts-expect-error: no such mode
hedgerowCollectionOptions({ table: db.issues, syncMode: 'lazy' });

hedgerowPersistence(db, { schemaMismatch: 'reset' });
// @ts-expect-error: no such option
hedgerowPersistence(db, { schemaMismatch: 'drop' });

export { one, owners, ready };
