/** `table()`: definitions with the types that are inferred from them. */

import { HedgerowError } from '../../base/errors.js';
import { isPlain, kindOf } from '../../base/runtime-type-checks.js';
import type { DefinitionCheck, LooseDefinition } from './definition-fault-types.js';
import { openTables } from './open-tables.js';
import type { StandardSchema } from './standard-schema.js';
import type { OutputOf, Table, TakenBy } from './types.js';

/** A function that takes the definition of a table whose rows have the type `Row`. */
export type Define<Row> = <
  const Definition extends LooseDefinition<Row, StandardSchema<unknown, Row>>,
>(
  definition: Definition & DefinitionCheck<Row, Definition>,
) => Table<Row, Row, Definition>;

/**
 * Defines a table: `table<Issue>()({ key: 'id', indexes: { byState: ['status', 'modified'] } })`. A `schema` gives the
 * type of rows: `table({ schema, key: 'id' })`. Pass the result to `open` under the name of the table.
 */
export function table<Row extends object>(): Define<Row>;
export function table<
  Schema extends StandardSchema<object, object>,
  const Definition extends LooseDefinition<OutputOf<Schema>, Schema>,
>(
  definition: { readonly schema: Schema } & Definition &
    DefinitionCheck<OutputOf<Schema>, Definition>,
): Table<OutputOf<Schema>, TakenBy<Schema>, Definition>;
export function table(definition?: object): unknown {
  return definition === undefined ? buildTable : buildTable(definition);
}

function buildTable(definition: object): Table {
  if (isPlain(definition)) return { definition, open: openTables } as Table;
  throw new HedgerowError(
    'invalid-argument',
    `table takes a definition in a plain object, not ${kindOf(definition)}`,
  );
}
