/** The members that a definition of a table may have. */

import { type Codec, rowType, table } from 'hedgerow';
import type { Issue, Step } from './app.js';

const issue = rowType<Issue>();

table({ schema: issue, key: 'id' });
table({ schema: issue, key: ['id'] });
table({ schema: issue, key: ['isPinned', 'modified', 'id'] });
table({
  schema: issue,
  key: 'id',
  prefix: 'i/',
  version: 2,
  migrate: (row: Issue) => row,
});
table({ schema: issue, key: 'id', indexes: {} });
table({
  schema: issue,
  key: 'id',
  indexes: { mixed: ['labels', 'parent', '/author/name', 'isPinned'] },
});
table({ schema: issue, key: 'id', indexes: { words: [{ words: '/author/home/city' }] } });
table({
  schema: issue,
  key: 'id',
  indexes: { words: { columns: [{ words: 'labels' }], nulls: false } },
});

// Keys.
// @ts-expect-error a key is needed [Property 'key' is missing]
table({ schema: issue, indexes: {} });
// @ts-expect-error not a member ["nope"] ["title"]
table({ schema: issue, key: 'nope' });
// @ts-expect-error a number is a key only in a list ["modified"] ["title"]
table({ schema: issue, key: 'modified' });
// @ts-expect-error it may be absent ["owner"]
table({ schema: issue, key: 'owner' });
// @ts-expect-error it may be null ["parent"]
table({ schema: issue, key: 'parent' });
// @ts-expect-error a key has at least one column
table({ schema: issue, key: [] });
// @ts-expect-error one of them is not a member ["nope"] ["project"]
table({ schema: rowType<Step>(), key: ['project', 'nope'] });
// @ts-expect-error one of them may be absent ["owner"]
table({ schema: issue, key: ['id', 'owner'] });
// @ts-expect-error a list is no column of a key ["labels"]
table({ schema: issue, key: ['labels'] });
// @ts-expect-error keys take no pointers
table({ schema: issue, key: ['/author/name'] });

// Columns.
// @ts-expect-error not a member ["nope"] ["modified"]
table({ schema: issue, key: 'id', indexes: { bad: ['nope'] } });
// @ts-expect-error one of them is not a member ["nope"]
table({ schema: issue, key: 'id', indexes: { good: ['title'], bad: ['status', 'nope'] } });
// @ts-expect-error the same in the long form ["nope"]
table({ schema: issue, key: 'id', indexes: { bad: { columns: ['nope'] } } });
// @ts-expect-error an object is no column ["author"]
table({ schema: issue, key: 'id', indexes: { bad: ['author'] } });
// @ts-expect-error an index has at least one column
table({ schema: issue, key: 'id', indexes: { bad: [] } });
// @ts-expect-error the pointer leads nowhere [rows have no member /author/nope]
table({ schema: issue, key: 'id', indexes: { bad: ['/author/nope'] } });
// @ts-expect-error the pointer leads nowhere at its start [rows have no member /nope/name]
table({ schema: issue, key: 'id', indexes: { bad: ['modified', '/nope/name'] } });
// @ts-expect-error the pointer leads nowhere, in the long form [rows have no member /author/home/nope]
table({ schema: issue, key: 'id', indexes: { bad: { columns: ['/author/home/nope'] } } });
// @ts-expect-error it leads into a text [rows have no member /title/length]
table({ schema: issue, key: 'id', indexes: { bad: ['/title/length'] } });
// @ts-expect-error lists have no members but their items [rows have no member /labels/length]
table({ schema: issue, key: 'id', indexes: { bad: ['/labels/length'] } });
// @ts-expect-error it leads to an object [the member /author/home is of another type]
table({ schema: issue, key: 'id', indexes: { bad: ['/author/home'] } });
// @ts-expect-error a number has no words [the member modified is of another type] ["title"]
table({ schema: issue, key: 'id', indexes: { bad: [{ words: 'modified' }] } });
// @ts-expect-error no member to take words of ["nope"]
table({ schema: issue, key: 'id', indexes: { bad: [{ words: 'nope' }] } });
// @ts-expect-error the pointer to the words leads nowhere [rows have no member /author/nope]
table({ schema: issue, key: 'id', indexes: { bad: [{ words: '/author/nope' }] } });

// Other members.
// @ts-expect-error a member of no definition [a definition has no such member]
table({ schema: issue, key: 'id', indxes: { byTitle: ['title'] } });
// @ts-expect-error a member of no index [an index has no such member]
table({ schema: issue, key: 'id', indexes: { bad: { columns: ['title'], unique: true } } });
// @ts-expect-error nulls is a boolean
table({ schema: issue, key: 'id', indexes: { bad: { columns: ['title'], nulls: 1 } } });
// @ts-expect-error a prefix is a string
table({ schema: issue, key: 'id', prefix: 1 });
// @ts-expect-error an unknown way to keep rows ["yaml"]
table({ schema: issue, key: 'id', values: 'yaml' });
// @ts-expect-error a version is a number
table({ schema: issue, key: 'id', version: '2', migrate: (row: Issue) => row });
// @ts-expect-error migrate makes rows of this version [title]
table({ schema: issue, key: 'id', version: 2, migrate: (row: Step) => row });
// @ts-expect-error no schema
table({ key: 'id', schema: (row: Issue) => row });

// Members of rows with odd names, lists of objects, and records.
interface Odd {
  id: string;
  'a/b': { '~c': number };
  points: { x: number }[];
  counts: Record<string, number>;
  pair: [string, { deep: boolean }];
}
table({
  schema: rowType<Odd>(),
  key: 'id',
  indexes: { a: ['/a~1b/~0c'], b: ['/points/0/x', '/counts/any'] },
});
table({ schema: rowType<Odd>(), key: 'id', indexes: { c: ['/pair/1/deep'] } });
// @ts-expect-error the name is not escaped [rows have no member /a/b/~0c]
table({ schema: rowType<Odd>(), key: 'id', indexes: { bad: ['/a/b/~0c'] } });

// Rows of several shapes: a column may be a member of some of them.
type Shape =
  | { id: string; kind: 'circle'; radius: number }
  | { id: string; kind: 'box'; width: number; at: { x: number } }
  | { id: string; kind: 'dot'; at: null };
table({
  schema: rowType<Shape>(),
  key: 'id',
  indexes: { byRadius: ['kind', 'radius'], byX: ['/at/x'] },
});
// @ts-expect-error some of them lack it ["kind"]
table({ schema: rowType<Shape>(), key: ['kind', 'radius'] });
// @ts-expect-error all of them lack it ["nope"] ["radius"]
table({ schema: rowType<Shape>(), key: 'id', indexes: { bad: ['nope'] } });

// A codec has the type of the row; its functions need no types.
declare const codec: Codec<Step>;
table({ schema: rowType<Step>(), key: ['project'], values: codec });
table({
  schema: rowType<Step>(),
  key: ['project'],
  values: {
    encode: (row) => ({ t: row.text }),
    decode: () => ({ project: '', number: 0, text: '' }),
  },
});
// @ts-expect-error it gives other rows
table({ schema: issue, key: 'id', values: codec });
