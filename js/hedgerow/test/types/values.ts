/** Rows that JSON does not keep need `values`; the types of TypeScript find them as far as they can. */

import { table, type Values } from 'hedgerow';
import type { Meeting } from './app.js';

type Id = { id: string };

// Rows that JSON keeps.
type Json = string | number | boolean | null | Json[] | { [name: string]: Json };
table<Id & { any: Json }>()({ key: 'id' });
table<Id & { list: (string | number)[]; pair: readonly [1, 'a']; deep: { er: { est: 1 }[] } }>()({
  key: 'id',
});
table<Id & { maybe?: string | null | undefined; brand: number & { readonly of: 'cents' } }>()({
  key: 'id',
  values: 'json',
});
// Rows whose type says too little.
// biome-ignore lint/suspicious/noExplicitAny: it is what is tested
table<Id & { one: any; other: unknown; third: any[] }>()({ key: 'id' });
table<Id & { made: { toJSON(): string; add(): void } }>()({ key: 'id' });

// Rows that JSON does not keep.
// @ts-expect-error values are missing [JSON does not keep /begins] [JSON does not keep /cents]
table<Meeting>()({ key: 'id' });
// @ts-expect-error JSON is asked for [JSON does not keep /begins] ["structured"]
table<Meeting>()({ key: 'id', values: 'json' });
// @ts-expect-error a Date [JSON does not keep /born]
table<Id & { born: Date }>()({ key: 'id' });
// @ts-expect-error a Date that may be absent [JSON does not keep /born]
table<Id & { born?: Date }>()({ key: 'id' });
// @ts-expect-error a Date, or null or a text [JSON does not keep /born]
table<Id & { born: Date | string | null }>()({ key: 'id' });
// @ts-expect-error a list of Dates [JSON does not keep /days/0]
table<Id & { days: readonly Date[] }>()({ key: 'id' });
// @ts-expect-error lists of lists of Dates [JSON does not keep /weeks/0/0]
table<Id & { weeks: Date[][] }>()({ key: 'id' });
// @ts-expect-error a set [JSON does not keep /tags]
table<Id & { tags: Set<string> }>()({ key: 'id' });
// @ts-expect-error a map [JSON does not keep /counts]
table<Id & { counts: ReadonlyMap<string, number> }>()({ key: 'id' });
// @ts-expect-error a bigint [JSON does not keep /cents]
table<Id & { cents: bigint }>()({ key: 'id' });
// @ts-expect-error bytes [JSON does not keep /bytes]
table<Id & { bytes: Uint8Array }>()({ key: 'id' });
// @ts-expect-error a file [JSON does not keep /photo]
table<Id & { photo: Blob }>()({ key: 'id' });
// @ts-expect-error a function [JSON does not keep /call]
table<Id & { call(): void }>()({ key: 'id' });
// @ts-expect-error deep in the row [JSON does not keep /author/home/since]
table<Id & { author: { name: string; home?: { since: Date } | null } }>()({ key: 'id' });
// @ts-expect-error in a list of objects [JSON does not keep /visits/0/at]
table<Id & { visits: { at: Date }[] }>()({ key: 'id' });
// @ts-expect-error in a record of objects [/at]
table<Id & { visits: Record<string, { at: Date }> }>()({ key: 'id' });
// @ts-expect-error of one of two shapes [JSON does not keep /at]
table<Id & ({ kind: 'a'; at: Date } | { kind: 'b' })>()({ key: 'id' });

// With `values` the table keeps them; a Date is then a column.
table<Meeting>()({ key: 'id', values: 'structured', indexes: { a: ['begins', 'ended'] } });
declare const codec: Exclude<Values<Meeting>, string>;
table<Meeting>()({ key: 'id', values: codec });
// @ts-expect-error a Date is no column of a codec [the member begins is of another type]
table<Meeting>()({ key: 'id', values: codec, indexes: { a: ['begins'] } });
// @ts-expect-error a bigint is no column [the member cents is of another type]
table<Meeting>()({ key: 'id', values: 'structured', indexes: { a: ['cents'] } });
// @ts-expect-error nor is a set [the member guests is of another type]
table<Meeting>()({ key: 'id', values: 'structured', indexes: { a: ['guests'] } });
// @ts-expect-error nor is what is in a set [rows have no member /guests/size]
table<Meeting>()({ key: 'id', values: 'structured', indexes: { a: ['/guests/size'] } });
// @ts-expect-error a Date is no part of a key ["begins"]
table<Meeting>()({ key: ['begins'], values: 'structured' });

// Recursive rows are searched to a depth.
interface Tree {
  id: string;
  name: string;
  left?: Tree;
  right: Tree | null;
  children: Tree[];
  byName: Record<string, Tree>;
}
table<Tree>()({ key: 'id', indexes: { a: ['name', '/left/right/name', '/children/0/name'] } });
interface Dated extends Tree {
  born: Date;
  next: Dated;
}
// @ts-expect-error the error names the nearest [JSON does not keep /born]
table<Dated>()({ key: 'id' });
// Each level is another type.
interface Growing<T> {
  id: string;
  value: T;
  more: Growing<T[]>;
  most: Growing<{ it: T }>;
}
table<Growing<string>>()({ key: 'id' });
// Many members that refer to each other.
type Name = `m${0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9}${0 | 1}`;
type Many = Id & { [Key in Name]: { [Other in Name]: Many } };
table<Many>()({ key: 'id' });
