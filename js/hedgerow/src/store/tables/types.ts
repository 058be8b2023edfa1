/** The types of tables, which are inferred from definitions. */

import type { StandardSchema } from './standard-schema.js';
import type { Codec } from './values/app-codec-types.js';

/** A value of a column of a key. */
export type KeyPart = string | number | boolean;

/** A value that is no plain data: JSON loses it. */
export type Opaque =
  | Date
  | bigint
  | symbol
  | ReadonlyMap<unknown, unknown>
  | ReadonlySet<unknown>
  | ArrayBuffer
  | ArrayBufferView
  | { arrayBuffer(): unknown }
  | RegExp
  | ((...given: never) => unknown);

/** A value of a column of an index; dates need `values: 'structured'`. */
export type ColumnValue = KeyPart | Date | null | undefined;

/** The names of the members of all types of a union. */
type NameOf<Row> = Row extends unknown ? keyof Row & string : never;

/** A member at the top of a row; `undefined` where a type of a union lacks it. */
type OwnMember<Row, Name> = Row extends unknown
  ? Name extends keyof Row
    ? Row[Name]
    : undefined
  : never;

/** The name in a step of a JSON pointer. */
type PointerName<Step extends string> = Step extends `${infer Start}~${infer Digit}${infer Rest}`
  ? `${Start}${Digit extends '1' ? '/' : '~'}${PointerName<Rest>}`
  : Step;

/** The member that a step of a JSON pointer leads to; `undefined` if it does not exist. */
type Step<Value, Name extends string> = Value extends Opaque | string | number | boolean
  ? undefined
  : Value extends readonly (infer Item)[]
    ? Name extends `${number}`
      ? Item | undefined
      : undefined
    : Name extends keyof Value
      ? Value[Name] | (string extends keyof Value ? undefined : never)
      : undefined;

/** The member that a JSON pointer such as `/author/name` leads to; `undefined` if it does not exist. */
type PointerTarget<Value, Path extends string> = Path extends `/${infer Name}/${infer Rest}`
  ? PointerTarget<Step<Value, PointerName<Name>>, `/${Rest}`>
  : Path extends `/${infer Name}`
    ? Step<Value, PointerName<Name>>
    : undefined;

/** The member of a column: a name at the top of the row, or a JSON pointer. */
export type MemberOf<Row, Column extends string> =
  Column extends NameOf<Row> ? OwnMember<Row, Column> : PointerTarget<Row, Column>;

/**
 * Members at the top of a row whose values can stand in a column, as scalars or arrays of scalars. Written as `keyof`,
 * so that TypeScript shows the names in errors, not this type.
 */
export type ColumnName<Row, Value = ColumnValue> = keyof {
  [Name in NameOf<Row> as [OwnMember<Row, Name>] extends [Value | readonly Value[]]
    ? Name
    : never]: 0;
};

/** A column in a definition. */
export type Column<Row> = ColumnName<Row> | `/${string}`;

/** A column of an index, or the words of one that has text. */
export type IndexColumn<Row> = Column<Row> | { readonly words: Column<Row> };

/** The columns of an index in their order, alone or with the way in which the index treats rows that lack them. */
export type IndexOf<Row> =
  | readonly [IndexColumn<Row>, ...IndexColumn<Row>[]]
  | {
      readonly columns: readonly [IndexColumn<Row>, ...IndexColumn<Row>[]];
      /**
       * Whether the index has rows that lack a column, or have `null` there: `true` by default, so that queries by the
       * other columns find them. If `false`, the index is smaller, and only queries of all its columns take it.
       */
      readonly nulls?: boolean | undefined;
    };

/** How rows are kept: see `docs/values.md`. */
export type Values<Row> = 'json' | 'structured' | Codec<Row>;

/** The names of members whose values are of a type. */
type NameFor<Row, Value> = keyof {
  [Name in keyof Row & string as [Row[Name]] extends [Value] ? Name : never]: never;
};

/** A definition of a table. */
export interface TableDefinition<Row, Schema = unknown> {
  /**
   * The key of a row: the name of a member that is a string, which then is the key as it is; or a list of members that
   * are strings, numbers or booleans, in whose order rows are kept.
   */
  readonly key: NameFor<Row, string> | readonly [NameFor<Row, KeyPart>, ...NameFor<Row, KeyPart>[]];
  /** Indexes by name, each a list of columns. */
  readonly indexes?: { readonly [name: string]: IndexOf<Row> } | undefined;
  /** The prefix of keys in the store: the name of the table and `/`, by default. */
  readonly prefix?: string | undefined;
  /** How rows are kept; `'json'` by default. */
  readonly values?: Values<Row> | undefined;
  /** Checks each row that is written; rows are kept as it returns them. */
  readonly schema?: Schema | undefined;
  /** Whether `schema` checks rows when they are written, or only gives their types; `true` by default. */
  readonly validate?: boolean | undefined;
  /** The version of the form of rows; 1 by default. Rows of a lower one are brought forward by `migrate`. */
  readonly version?: number | undefined;
  /** Makes a row of this version from a row of a lower version. It depends on its arguments alone. */
  readonly migrate?: ((row: never, from: number) => Row) | undefined;
  /**
   * Columns whose values `migrate` leaves as they are, from each lower version on. Queries by an index of such columns
   * do not wait for the migration. A row is refused if `migrate` changes one of these values.
   */
  readonly keeps?: readonly Column<Row>[] | undefined;
}

/** The key of a row in calls: a string, a scalar, or a list of scalars. */
export type KeyOf<Row, Definition> = Definition extends { readonly key: infer Key }
  ? Key extends keyof Row
    ? Row[Key]
    : Key extends readonly [infer Only extends keyof Row]
      ? Row[Only]
      : { readonly [At in keyof Key]: Key[At] extends keyof Row ? Row[Key[At]] : never }
  : unknown;

type ColumnsOf<Index> = Index extends { readonly columns: infer Columns } ? Columns : Index;

/** The pointers that are columns of indexes. */
type PointersOf<Definition> = Definition extends { readonly indexes: infer Indexes }
  ? {
      [Name in keyof Indexes]: ColumnsOf<Indexes[Name]> extends readonly (infer Column)[]
        ? Extract<Column extends { readonly words: infer Text } ? Text : Column, `/${string}`>
        : never;
    }[keyof Indexes]
  : never;

/** The names of the indexes of a definition. */
export type IndexName<Definition> = Definition extends { readonly indexes: infer Indexes }
  ? keyof Indexes & string
  : never;

/** The value that a condition compares a column with; of an array, one of its members. */
export type ComparisonValue<Member> = Member extends readonly (infer Item)[] ? Item : Member;

/** Bounds of a column. One bound alone selects only values of its type. No row matches a text without letters. */
export interface Bounds<Value> {
  readonly gt?: Value;
  readonly gte?: Value;
  readonly lt?: Value;
  readonly lte?: Value;
  /** Of text: its beginning. */
  readonly startsWith?: Value extends string ? string : never;
  /** Of text, by an index with `{ words }`: for each of these words, a word of the text begins with it. */
  readonly words?: Value extends string ? string : never;
}

/** A value to be equal to; `null` also stands for a missing member. */
type EqualValue<Member> =
  | Exclude<ComparisonValue<Member>, undefined>
  | (undefined extends Member ? null : never)
  | (Member extends readonly unknown[] ? null : never);

/** A value that a column must have, or bounds of it. */
export type Condition<Member> =
  | EqualValue<Member>
  | Bounds<Exclude<ComparisonValue<Member>, null | undefined>>;

/** The values that the columns of a table can hold. */
export type ColumnValueOf<Definition> = Definition extends { readonly values: 'structured' }
  ? ColumnValue
  : Exclude<ColumnValue, Date>;

/** All columns of a table: members of rows, and pointers of its indexes. Written as `keyof`, like `ColumnName`. */
export type AnyColumn<Row, Definition> = keyof {
  [Name in NameOf<Row> | PointersOf<Definition> as [MemberOf<Row, Name>] extends [
    ColumnValueOf<Definition> | readonly ColumnValueOf<Definition>[],
  ]
    ? Name
    : never]: 0;
};

/** The conditions of rows, one for each column. */
export type Conditions<Row, Definition> = {
  readonly [Column in AnyColumn<Row, Definition>]?: Condition<MemberOf<Row, Column>>;
};

/** A table as `table` makes it. Only TypeScript knows the types. */
export interface Table<Row = unknown, Input = Row, Definition = unknown> {
  readonly definition: Definition;
  /** Only for its type: absent. */
  readonly types?: { readonly row: Row; readonly input: Input } | undefined;
}

// biome-ignore lint/suspicious/noExplicitAny: tables of all rows
export type AnyTable = Table<any, any, any>;

/** Tables by the names under which a store has them. */
export type Tables = Readonly<Record<string, AnyTable>>;

/** The rows of a table: `RowOf<typeof issues>`. */
export type RowOf<T> = T extends Table<infer Row, infer _Input, infer _Definition> ? Row : never;

/** The rows that are put into a table, before its schema changes them. */
export type InputOf<T> =
  T extends Table<infer _Row, infer Input, infer _Definition> ? Input : never;

/** The rows that a schema returns. */
export type OutputOf<Schema> =
  Schema extends StandardSchema<infer _Input, infer Output> ? Output : never;

/** The values that a schema takes. */
export type TakenBy<Schema> =
  Schema extends StandardSchema<infer Input, infer _Output> ? Input : never;
