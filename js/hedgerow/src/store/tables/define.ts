/** `table()`: definitions with the types that are inferred from them. */

import { HedgerowError } from '../../base/errors.js';
import { isPlain, kindOf } from '../../base/runtime-type-checks.js';
import type { DefinitionCheck, LooseDefinition } from './definition-fault-types.js';
import { openTables } from './open-tables.js';
import type { StandardSchema } from './standard-schema.js';
import type { OutputOf, Table, TakenBy } from './types.js';

/** Gives the type of rows that no schema checks: `table({ schema: rowType<Issue>(), key: 'id' })`. */
export function rowType<Row extends object>(): StandardSchema<Row, Row> {
  return undefined as never;
}

/**
 * Defines a table: `table({ schema, key: 'id', indexes: { byState: ['status', 'modified'] } })`. The schema gives the type
 * of rows, and checks them; `rowType` only gives their type. Pass the result to `open` under the name of the table.
 */
export function table<
  Schema extends StandardSchema<object, object>,
  const Definition extends LooseDefinition<OutputOf<Schema>, Schema>,
>(
  definition: { readonly schema: Schema } & Definition &
    DefinitionCheck<OutputOf<Schema>, Definition>,
): Table<OutputOf<Schema>, TakenBy<Schema>, Definition> {
  if (isPlain(definition)) return { definition, open: openTables } as never;
  throw new HedgerowError(
    'invalid-argument',
    `table takes a definition in a plain object, not ${kindOf(definition)}`,
  );
}
