/** Schemas of rows that follow Standard Schema, such as schemas of zod, valibot and arktype. */

import { isDevelopment } from '../../base/development.js';
import { HedgerowError } from '../../base/errors.js';
import { isPlain } from '../../base/runtime-type-checks.js';
import { sameValue } from '../../base/same-value.js';
import { pointerTo } from './column-json-pointer.js';

/** A schema: the part of https://standardschema.dev (version 1) that is used here. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

/** A value as the schema returns it, or its faults. */
export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

/** A fault of a value. */
export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** Returns whether this is a schema. Schemas of arktype are functions. */
export function isSchema(schema: unknown): schema is StandardSchema {
  const standard = (schema as Partial<StandardSchema> | null | undefined)?.['~standard'];
  return standard?.version === 1 && typeof standard.validate === 'function';
}

/** Returns the row as a schema returns it. Throws `invalid-argument/value` with the pointer to the first fault. */
export function validateRow(schema: StandardSchema, row: unknown): unknown {
  const result = schema['~standard'].validate(row);
  if (isThenable(result)) {
    Promise.resolve(result).catch(() => {});
    const message = 'the schema validates asynchronously: give one that answers at once';
    throw new HedgerowError('invalid-argument', message);
  }
  if (result.issues === undefined) {
    if (isDevelopment) checkStable(schema, result.value);
    return result.value;
  }
  throw faultOf(result.issues);
}

/** Throws `invalid-argument` if the schema changes a row that it has returned. */
function checkStable(schema: StandardSchema, row: unknown): void {
  if (!isPlain(row)) return;
  const again = schema['~standard'].validate({ ...row });
  if (isThenable(again) || (again.issues === undefined && sameValue(again.value, row))) return;
  const { message, pointer } = faultOf(again.issues ?? [{ message: 'it makes another one of it' }]);
  const why =
    'a schema must leave a row as it gives it, since update and migrations hand it stored rows';
  throw new HedgerowError('invalid-argument', `${why}: ${message}`, { pointer });
}

function faultOf(issues: readonly SchemaIssue[]): HedgerowError {
  const [first, ...others] = issues;
  const more = others.length > 0 ? `, and ${others.length} more` : '';
  const pointer = pointerOf(first?.path);
  const message = `${first?.message ?? 'the schema refuses it'}${more}`;
  return new HedgerowError('invalid-argument/value', message, { pointer, issues });
}

function isThenable<T>(result: T | PromiseLike<T>): result is PromiseLike<T> {
  return typeof (result as PromiseLike<T> | undefined)?.then === 'function';
}

function pointerOf(path: SchemaIssue['path'] = []): string {
  return path.map((step) => pointerTo(String(typeof step === 'object' ? step.key : step))).join('');
}
