/** Rows that JSON does not keep need `values`; the types of TypeScript find them as far as they can. */

import { type Codec, rowType, table } from 'hedgerow';
import type { Meeting } from './app.js';

const meeting = rowType<Meeting>();

type Id = { id: string };

// Rows that JSON keeps.
type Json = string | number | boolean | null | Json[] | { [name: string]: Json };
table({ schema: rowType<Id & { any: Json }>(), key: 'id' });
table({
  schema: rowType<
    Id & { list: (string | number)[]; pair: readonly [1, 'a']; deep: { er: { est: 1 }[] } }
  >(),
  key: 'id',
});
table({
  schema: rowType<
    Id & { maybe?: string | null | undefined; brand: number & { readonly of: 'cents' } }
  >(),
  key: 'id',
  values: 'json',
});
// Rows whose type says too little.
// biome-ignore lint/suspicious/noExplicitAny: it is what is tested
table({ schema: rowType<Id & { one: any; other: unknown; third: any[] }>(), key: 'id' });
table({ schema: rowType<Id & { made: { toJSON(): string; add(): void } }>(), key: 'id' });

// Rows that JSON does not keep.
// @ts-expect-error values are missing [JSON does not keep /begins] [JSON does not keep /cents]
table({ schema: meeting, key: 'id' });
// @ts-expect-error JSON is asked for [JSON does not keep /begins] ["structured"]
table({ schema: meeting, key: 'id', values: 'json' });
// @ts-expect-error a Date [JSON does not keep /born]
table({ schema: rowType<Id & { born: Date }>(), key: 'id' });
// @ts-expect-error a Date that may be absent [JSON does not keep /born]
table({ schema: rowType<Id & { born?: Date }>(), key: 'id' });
// @ts-expect-error a Date, or null or a text [JSON does not keep /born]
table({ schema: rowType<Id & { born: Date | string | null }>(), key: 'id' });
// @ts-expect-error a list of Dates [JSON does not keep /days/0]
table({ schema: rowType<Id & { days: readonly Date[] }>(), key: 'id' });
// @ts-expect-error lists of lists of Dates [JSON does not keep /weeks/0/0]
table({ schema: rowType<Id & { weeks: Date[][] }>(), key: 'id' });
// @ts-expect-error a set [JSON does not keep /tags]
table({ schema: rowType<Id & { tags: Set<string> }>(), key: 'id' });
// @ts-expect-error a map [JSON does not keep /counts]
table({ schema: rowType<Id & { counts: ReadonlyMap<string, number> }>(), key: 'id' });
// @ts-expect-error a bigint [JSON does not keep /cents]
table({ schema: rowType<Id & { cents: bigint }>(), key: 'id' });
// @ts-expect-error bytes [JSON does not keep /bytes]
table({ schema: rowType<Id & { bytes: Uint8Array }>(), key: 'id' });
// @ts-expect-error a file [JSON does not keep /photo]
table({ schema: rowType<Id & { photo: Blob }>(), key: 'id' });
// @ts-expect-error a function [JSON does not keep /call]
table({ schema: rowType<Id & { call(): void }>(), key: 'id' });
// @ts-expect-error deep in the row [JSON does not keep /author/home/since]
table({
  schema: rowType<Id & { author: { name: string; home?: { since: Date } | null } }>(),
  key: 'id',
});
// @ts-expect-error in a list of objects [JSON does not keep /visits/0/at]
table({ schema: rowType<Id & { visits: { at: Date }[] }>(), key: 'id' });
// @ts-expect-error in a record of objects [/at]
table({ schema: rowType<Id & { visits: Record<string, { at: Date }> }>(), key: 'id' });
// @ts-expect-error of one of two shapes [JSON does not keep /at]
table({ schema: rowType<Id & ({ kind: 'a'; at: Date } | { kind: 'b' })>(), key: 'id' });

// With `values` the table keeps them; a Date is then a column.
table({ schema: meeting, key: 'id', values: 'structured', indexes: { a: ['begins', 'ended'] } });
declare const codec: Codec<Meeting>;
table({ schema: meeting, key: 'id', values: codec });
// @ts-expect-error a Date is no column of a codec [the member begins is of another type]
table({ schema: meeting, key: 'id', values: codec, indexes: { a: ['begins'] } });
// @ts-expect-error a bigint is no column [the member cents is of another type]
table({ schema: meeting, key: 'id', values: 'structured', indexes: { a: ['cents'] } });
// @ts-expect-error nor is a set [the member guests is of another type]
table({ schema: meeting, key: 'id', values: 'structured', indexes: { a: ['guests'] } });
// @ts-expect-error nor is what is in a set [rows have no member /guests/size]
table({ schema: meeting, key: 'id', values: 'structured', indexes: { a: ['/guests/size'] } });
// @ts-expect-error a Date is no part of a key ["begins"]
table({ schema: meeting, key: ['begins'], values: 'structured' });

// Recursive rows are searched to a depth.
interface Tree {
  id: string;
  name: string;
  left?: Tree;
  right: Tree | null;
  children: Tree[];
  byName: Record<string, Tree>;
}
table({
  schema: rowType<Tree>(),
  key: 'id',
  indexes: { a: ['name', '/left/right/name', '/children/0/name'] },
});
interface Dated extends Tree {
  born: Date;
  next: Dated;
}
// @ts-expect-error the error names the nearest [JSON does not keep /born]
table({ schema: rowType<Dated>(), key: 'id' });
// Each level is another type.
interface Growing<T> {
  id: string;
  value: T;
  more: Growing<T[]>;
  most: Growing<{ it: T }>;
}
table({ schema: rowType<Growing<string>>(), key: 'id' });
// Many members that refer to each other.
type Name = `m${0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9}${0 | 1}`;
type Many = Id & { [Key in Name]: { [Other in Name]: Many } };
table({ schema: rowType<Many>(), key: 'id' });
