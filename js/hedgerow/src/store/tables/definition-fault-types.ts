/** The faults of a definition, as types: TypeScript shows them where the member is written. */

import type {
  Column,
  ColumnName,
  ColumnValueOf,
  MemberOf,
  Opaque,
  TableDefinition,
} from './types.js';

/** A type that no member can have: TypeScript shows it in its error. */
export interface DefinitionFault<Why extends string, Instead = never> {
  readonly why: Why;
  readonly instead: Instead;
}

/** A definition that accepts all columns, so that `DefinitionCheck` can say which of them are wrong. */
export interface LooseDefinition<Row, Schema>
  extends Omit<TableDefinition<Row, Schema>, 'indexes'> {
  readonly indexes?: { readonly [name: string]: WrittenIndex<Row> } | undefined;
}

type WrittenIndex<Row> =
  | readonly [WrittenColumn<Row>, ...WrittenColumn<Row>[]]
  | {
      readonly columns: readonly [WrittenColumn<Row>, ...WrittenColumn<Row>[]];
      readonly nulls?: boolean | undefined;
    };

/** Any string: the names are for completion. */
type WrittenName<Row> = Column<Row> | (string & {});
type WrittenColumn<Row> = WrittenName<Row> | { readonly words: WrittenName<Row> };

/** The members of a definition, each with its fault. */
export type DefinitionCheck<Row, Definition> = {
  readonly [Member in keyof Definition]: Member extends 'indexes'
    ? CheckedIndexes<Row, Definition[Member], ColumnValueOf<Definition>>
    : Member extends keyof TableDefinition<Row>
      ? unknown
      : DefinitionFault<'a definition has no such member', keyof TableDefinition<Row>>;
} & CheckedValues<Row, Definition>;

type CheckedIndexes<Row, Indexes, Value> = {
  readonly [Name in keyof Indexes]: Indexes[Name] extends { readonly columns: infer Columns }
    ? {
        readonly [Member in keyof Indexes[Name]]: Member extends 'columns'
          ? CheckedColumns<Row, Columns, Value>
          : Member extends 'nulls'
            ? unknown
            : DefinitionFault<'an index has no such member', 'columns' | 'nulls'>;
      }
    : CheckedColumns<Row, Indexes[Name], Value>;
};

type CheckedColumns<Row, Columns, Value> = {
  readonly [At in keyof Columns]: Columns[At] extends string
    ? CheckedColumn<Row, Columns[At], Value>
    : Columns[At] extends { readonly words: infer Name extends string }
      ? { readonly words: CheckedColumn<Row, Name, string | null | undefined> }
      : unknown;
};

type CheckedColumn<Row, Name extends string, Value> = [MemberOf<Row, Name>] extends [undefined]
  ? DefinitionFault<`rows have no member ${Name}`, ColumnName<Row, Value>>
  : [MemberOf<Row, Name>] extends [Value | readonly Value[]]
    ? unknown
    : DefinitionFault<`the member ${Name} is of another type`, ColumnName<Row, Value>>;

/** Rows are kept as JSON unless `values` says otherwise: it must, if JSON loses a member. */
type CheckedValues<Row, Definition> = Definition extends { readonly values: infer Values }
  ? Values extends 'json'
    ? LosingValues<LostPointer<Row>>
    : unknown
  : LosingValues<LostPointer<Row>>;

type LosingValues<Pointer extends string> = [Pointer] extends [never]
  ? unknown
  : { readonly values: DefinitionFault<`JSON does not keep ${Pointer}`, 'structured'> };

/** How deep rows are searched. */
type Deepest = [0, 0, 0];

/** JSON pointers to the nearest members that JSON loses. A recursive type is searched as deep as any other. */
type LostPointer<Value, Depth extends readonly 0[] = []> = [
  LostAmong<InspectableType<Value>>,
] extends [never]
  ? Depth extends Deepest
    ? never
    : LostBelow<InspectableType<Value>, [...Depth, 0]>
  : LostAmong<InspectableType<Value>>;

/** The types of a union whose members are searched. An object with a `toJSON` decides itself what is kept. */
type InspectableType<Value> = unknown extends Value
  ? never
  : Value extends JsonScalar | Opaque | { toJSON(...given: never): unknown }
    ? never
    : Value;

/** The scalars that JSON keeps. */
type JsonScalar = string | number | boolean | null | undefined;

/** Pointers to members that are lost, or to lists of lost items. */
type LostAmong<Value> = Value extends readonly (infer Item)[]
  ? `/0${LostItself<Item>}`
  : { [Name in keyof Value & string]-?: `/${Name}${LostItself<Value[Name]>}` }[keyof Value &
      string];

type LostBelow<Value, Depth extends readonly 0[]> = Value extends readonly (infer Item)[]
  ? `/0${LostPointer<Item, Depth>}`
  : { [Name in keyof Value & string]-?: `/${Name}${LostPointer<Value[Name], Depth>}` }[keyof Value &
      string];

/** The empty pointer if the value itself is lost; `/0` for a list of lost items. */
type LostItself<Value> = unknown extends Value
  ? never
  : Value extends JsonScalar
    ? never
    : Value extends Opaque
      ? ''
      : Value extends readonly (infer Item)[]
        ? LostItem<Item>
        : never;

type LostItem<Item> = unknown extends Item ? never : Item extends Opaque ? '/0' : never;
