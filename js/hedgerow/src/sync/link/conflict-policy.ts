/** Decides conflicts: rows that both sides have changed, to different values. */

import { type Conflict, HedgerowError } from '../../base/errors.js';
import { sameValue } from '../../base/same-value.js';

/**
 * The side that wins:
 * - `'fields'`: of two objects, a field that only one side has changed comes from that side, and a field that both have
 *   changed from the remote. Of other values the remote's wins. An edit wins against a deletion.
 * - `'remote'` or `'local'`: the row of that side, or its deletion.
 * - a function: its result. `undefined` means no row, if one side has deleted it; otherwise it counts as a forgotten
 *   `return`, and the call rejects with `invalid-argument/value`. It may be called again for the same key.
 */
export type ConflictPolicy =
  | 'fields'
  | 'remote'
  | 'local'
  | ((conflict: Conflict) => unknown | PromiseLike<unknown>);

/** The decision of a conflict. */
export interface ConflictDecision {
  readonly value: unknown;
  /** Whether `value` lacks something of either side. */
  readonly isLoss: boolean;
  /** The fields that both sides had changed. */
  readonly fields?: readonly string[] | undefined;
}

const POLICIES: readonly unknown[] = ['fields', 'remote', 'local'];

/** Throws `invalid-argument` unless this is a policy. */
export function checkPolicy(policy: unknown): void {
  if (typeof policy === 'function' || POLICIES.includes(policy)) return;
  throw new HedgerowError(
    'invalid-argument',
    "the policy is 'fields', 'remote', 'local' or a function",
  );
}

/** A row as it was sent to the other side, which may have it; `undefined` if it was deleted. */
export interface SentRow {
  readonly value: unknown;
}

/** Decides a conflict. */
export async function decide(
  policy: ConflictPolicy,
  conflict: Conflict,
  sent?: SentRow,
): Promise<ConflictDecision> {
  const { ours, theirs } = conflict;
  if (sent !== undefined && sameValue(sent.value, theirs)) return { value: ours, isLoss: false };
  if (policy === 'remote') return { value: theirs, isLoss: true };
  if (policy === 'local') return { value: ours, isLoss: true };
  if (policy === 'fields') return byFields(conflict, sent);
  const value = await policy(conflict);
  if (value === undefined && ours !== undefined && theirs !== undefined) {
    const message = `the policy gave undefined for ${JSON.stringify(conflict.key)}, which neither side has deleted`;
    throw new HedgerowError('invalid-argument/value', message);
  }
  return { value, isLoss: true };
}

type Fields = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !isListOrBytes(value);
}

function isListOrBytes(value: object): boolean {
  return Array.isArray(value) || ArrayBuffer.isView(value);
}

function byFields({ base, ours, theirs }: Conflict, sent?: SentRow): ConflictDecision {
  if (ours === undefined) return { value: theirs, isLoss: true };
  if (theirs === undefined) return { value: ours, isLoss: true };
  if (!isObject(ours) || !isObject(theirs)) return { value: theirs, isLoss: true };
  const fieldsOf = (value: unknown): Fields => (isObject(value) ? value : {});
  const bases = [fieldsOf(base), ...(sent === undefined ? [] : [fieldsOf(sent.value)])];
  return mergeFields(bases, ours, theirs);
}

const fieldOf = (object: Fields, name: string): unknown =>
  Object.hasOwn(object, name) ? object[name] : undefined;

/** Merges two objects by their fields. `bases` are the rows that the other side may have begun with. */
function mergeFields(bases: readonly Fields[], ours: Fields, theirs: Fields): ConflictDecision {
  const entries: [string, unknown][] = [];
  const fields: string[] = [];
  for (const name of new Set([...Object.keys(theirs), ...Object.keys(ours)])) {
    const [own, other] = [fieldOf(ours, name), fieldOf(theirs, name)];
    const were = bases.map((base) => fieldOf(base, name));
    const isOurs = were.some((was) => sameValue(was, other));
    if (!isOurs && !sameValue(were[0], own) && !sameValue(own, other)) fields.push(name);
    const value = isOurs ? own : other;
    if (value !== undefined) entries.push([name, value]);
  }
  // Not by assignment: a field `__proto__` would become the prototype.
  return { value: Object.fromEntries(entries), isLoss: fields.length > 0, fields };
}
