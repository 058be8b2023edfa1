/** Schemas of rows: any that follow Standard Schema, such as those of zod, valibot and arktype. */

import { HedgerowError } from '../base/errors.js';
import { pointerTo } from './pointer.js';

/** What a schema says of a value; the part of https://standardschema.dev (version 1) that is used here. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

/** A value as the schema gives it back, or what is wrong with it. */
export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

/** A fault of a value. */
export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** Whether this is a schema. Those of arktype are functions. */
export function isSchema(schema: unknown): schema is StandardSchema {
  const standard = (schema as Partial<StandardSchema> | null | undefined)?.['~standard'];
  return standard?.version === 1 && typeof standard.validate === 'function';
}

/** The row as a schema gives it back. Throws `invalid-value` with the pointer to the first fault. */
export function validated(schema: StandardSchema, row: unknown): unknown {
  const result = schema['~standard'].validate(row);
  if (isThenable(result)) {
    Promise.resolve(result).catch(() => {});
    const message = 'the schema validates asynchronously: give one that answers at once';
    throw new HedgerowError('invalid-argument', message);
  }
  if (result.issues === undefined) return result.value;
  const [first, ...others] = result.issues;
  const more = others.length > 0 ? `, and ${others.length} more` : '';
  const pointer = pointerOf(first?.path);
  const message = `${first?.message ?? 'the schema refuses it'}${more}`;
  throw new HedgerowError('invalid-value', message, { pointer, issues: result.issues });
}

function isThenable<T>(result: T | PromiseLike<T>): result is PromiseLike<T> {
  return typeof (result as PromiseLike<T> | undefined)?.then === 'function';
}

function pointerOf(path: SchemaIssue['path'] = []): string {
  return path.map((step) => pointerTo(String(typeof step === 'object' ? step.key : step))).join('');
}
