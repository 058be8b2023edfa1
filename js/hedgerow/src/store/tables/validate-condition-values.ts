/** Checks the values that the conditions of a query compare columns with. */

import { shownAs } from '../../base/runtime-type-checks.js';
import { encodeScalar } from '../../core/indexes/scalar.js';
import { namedError, throwTableError } from './errors.js';
import type { Terms } from './query-conditions.js';
import type { Spec } from './spec.js';

/** Throws `invalid-argument` for a value that no column can have: the query would find no rows. */
export function checkCompared(spec: Spec, { equal, bounded }: Terms): void {
  for (const [column, value] of equal) check(spec, column, value);
  if (bounded === undefined || bounded.bounds.words !== undefined) return;
  for (const value of Object.values(bounded.bounds)) {
    if (value === null) {
      throwTableError(
        spec.name,
        `where: ${bounded.of} has no bound null; equal to it is { ${bounded.of}: null }`,
      );
    }
    check(spec, bounded.of, value);
  }
}

function check(spec: Spec, column: string, value: unknown): void {
  const { name, keys, kept } = spec;
  const isKey = keys.columns.includes(column);
  const isComparable = () => {
    if (isKey && keys.isPlain)
      return typeof value === 'string' && encodeScalar(value) !== undefined;
    const member = isKey ? value : kept.column(value);
    return (member === null && !isKey) || encodeScalar(member) !== undefined;
  };
  try {
    if (isComparable()) return;
  } catch (cause) {
    throw namedError(cause, name);
  }
  throwTableError(name, `where: ${column} cannot be compared with ${shownAs(value)}`);
}
