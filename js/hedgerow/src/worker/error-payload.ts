/** Errors on their way to the page. */
import { type ErrorFacts, type ErrorKind, HedgerowError, kindOfError } from '../base/errors.js';

/** An error as it crosses. */
export interface ErrorPayload {
  /** Absent for errors that are not of Hedgerow. */
  readonly kind?: ErrorKind | undefined;
  readonly name: string;
  readonly message: string;
  readonly facts?: object | undefined;
  readonly cause?: ErrorPayload | undefined;
}

/** The most causes of causes that cross. */
const MOST_CAUSES = 4;

/** Returns the parts of an error that cross. */
export function toErrorPayload(error: unknown, left = MOST_CAUSES): ErrorPayload {
  const { name = 'Error', message = String(error), cause } = Object(error) as Partial<Error>;
  const told = { name: String(name), message: String(message) };
  const inner = cause === undefined || left === 0 ? {} : { cause: toErrorPayload(cause, left - 1) };
  if (!(error instanceof HedgerowError)) return { ...told, ...inner };
  const { name: _, message: _message, cause: _cause, issues, ...facts } = error;
  const plain = issues?.map((issue) => ({ message: issue.message, ...pathOf(issue) }));
  return {
    ...told,
    ...inner,
    kind: kindOfError(error),
    facts: plain ? { ...facts, issues: plain } : facts,
  };
}

/** Returns the path of a schema's issue. Its steps may be objects of the schema library. */
function pathOf(issue: object): object {
  const { path } = issue as { readonly path?: unknown };
  if (!Array.isArray(path)) return {};
  return { path: path.map((step) => String(Object(step).key ?? step)) };
}

/** Rebuilds an error that has crossed. */
export function errorOf(told: ErrorPayload): Error {
  const cause = told.cause && errorOf(told.cause);
  if (told.kind !== undefined) {
    const facts = { ...told.facts, cause } as ErrorFacts;
    return new HedgerowError(told.kind, told.message, facts);
  }
  const error = new Error(told.message, cause && { cause });
  error.name = told.name;
  return error;
}
