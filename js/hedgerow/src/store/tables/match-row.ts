/** Tests whether a row fulfils the conditions of a query: by its stored form, as an index would list it. */

import { memberAt, parsePointer } from '../../base/json-pointer.js';
import { compareKeys } from '../../base/key.js';
import { encodeScalar, Tag } from '../../core/indexes/scalar.js';
import { wordsOf } from '../../core/indexes/words.js';
import { pointerOf } from './column-json-pointer.js';
import type { BoundedColumn, RowConditions } from './query-conditions.js';
import { type Row, type Spec, versionOf } from './spec.js';

/** Two tests of a row, which must both hold. */
export interface RowTest {
  /** Tests the stored value of the row. */
  isStoredMatch(value: unknown): boolean;
  /** Tests the row as the app has it. */
  isRowMatch(row: Row): boolean;
}

type Check = (form: unknown) => boolean;

/** Builds the test of a row for the conditions of a query. */
export function buildRowTest(spec: Spec, chosen: RowConditions): RowTest {
  const checks = checksOf(spec, chosen);
  return {
    isStoredMatch(value) {
      if (checks.length === 0) return true;
      const form = formOf(spec, value);
      return checks.every((check) => check(form));
    },
    isRowMatch: (row) => chosen.tests.every((test) => test(row as never)),
  };
}

/** Returns a stored value in its newest form, which indexes list in the end. */
function formOf(spec: Spec, stored: unknown): unknown {
  if (spec.version === (versionOf(stored) ?? 1)) return stored;
  return spec.kept.encode(spec.decode(structuredClone(stored)));
}

function checksOf(spec: Spec, { equal, bounded }: RowConditions): Check[] {
  const columnOf = (value: unknown) => encodeRowMember(spec.kept.column(value ?? null));
  const checks: Check[] = [];
  for (const [column, value] of equal) {
    const wanted = columnOf(value);
    checks.push(on(column, (text) => text === wanted));
  }
  if (bounded?.bounds.words !== undefined) checks.push(hasWords(bounded.of, bounded.bounds.words));
  else if (bounded !== undefined) checks.push(on(bounded.of, isWithin(bounded.bounds, columnOf)));
  return checks;
}

/** Encodes a member; a missing one counts as null. */
function encodeRowMember(member: unknown): string | undefined {
  return member == null ? Tag.null : encodeScalar(member);
}

/** Makes a check of a member, or of any member of an array. */
function on(column: string, isWanted: (text: string) => boolean): Check {
  const names = parsePointer(pointerOf(column)) ?? [];
  const isOne = (member: unknown) => {
    const text = encodeRowMember(member);
    return text !== undefined && isWanted(text);
  };
  return (form) => {
    const member = memberAt(form, names);
    // An empty array counts as absent.
    return Array.isArray(member) && member.length > 0 ? member.some(isOne) : isOne(single(member));
  };
}

const single = (member: unknown) => (Array.isArray(member) ? null : member);

function hasWords(column: string, text: string): Check {
  const wanted = wordsOf(text);
  const names = parsePointer(pointerOf(column)) ?? [];
  return (form) => {
    const texts = [memberAt(form, names)].flat();
    const all = texts.flatMap((one) => (typeof one === 'string' ? wordsOf(one) : []));
    return wanted.every((start) => all.some((word) => word.startsWith(start)));
  };
}

function isWithin(
  { startsWith, gt, gte, lt, lte }: BoundedColumn['bounds'],
  columnOf: (value: unknown) => string | undefined,
): (text: string) => boolean {
  // Without the mark of its end.
  const start = startsWith === undefined ? '' : (columnOf(startsWith)?.slice(0, -1) ?? '');
  const [low, high] = [gt ?? gte, lt ?? lte].map((one) =>
    one === undefined ? undefined : columnOf(one),
  );
  // One bound alone selects values of its type.
  const type = low !== undefined && high !== undefined ? undefined : (low ?? high)?.[0];
  return (text) => {
    if (!text.startsWith(start) || (type !== undefined && !sameType(text[0], type))) return false;
    if (low !== undefined && compareKeys(text, low) < (gt === undefined ? 0 : 1)) return false;
    return high === undefined || compareKeys(text, high) <= (lt === undefined ? 0 : -1);
  };
}

/** Returns whether the first characters of encoded scalars are of one type: `false` and `true` have one each. */
function sameType(one: string | undefined, other: string): boolean {
  const isBoolean = (tag: string | undefined) => tag === Tag.false || tag === Tag.true;
  return one === other || (isBoolean(one) && isBoolean(other));
}
