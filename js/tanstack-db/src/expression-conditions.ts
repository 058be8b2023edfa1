/** Reads the conditions in an expression of TanStack DB that an index can answer. */

import type { IR } from '@tanstack/db';

/** A condition on one member, which all wanted rows fulfil. */
export type MemberCondition =
  | { readonly path: string; readonly values: readonly unknown[] }
  | { readonly path: string; readonly bound: BoundName; readonly value: unknown };

export type BoundName = 'gt' | 'gte' | 'lt' | 'lte';

type Expression = IR.BasicExpression;

const FLIPPED: Readonly<Record<string, string>> = { gt: 'lt', gte: 'lte', lt: 'gt', lte: 'gte' };

/** Joins the path of a member into one text: names do not contain the sign between them. */
export const pathText = (names: readonly string[]) => names.join('\0');

/** Returns the member that an expression names; `undefined` for another expression. */
export function memberPath(expression: Expression | undefined): string | undefined {
  if (expression?.type !== 'ref') return undefined;
  const { path, sourceAlias } = expression as IR.PropRef & { readonly sourceAlias?: string };
  const names = sourceAlias !== undefined && path[0] === sourceAlias ? path.slice(1) : path;
  return names.length > 0 ? pathText(names) : undefined;
}

/** Returns conditions that hold for all rows that fulfil an expression, which may have further ones. */
export function conditionsOf(where: Expression | undefined): MemberCondition[] {
  if (where?.type !== 'func') return [];
  const { name, args } = where;
  if (name === 'and') return args.flatMap(conditionsOf);
  if (name === 'or') return alternatives(args);
  const [left, right] = args;
  const path = memberPath(left);
  if (path === undefined) {
    const swapped = FLIPPED[name] ?? name;
    const isComparison = name === 'eq' || name in FLIPPED;
    if (!isComparison || left?.type !== 'val' || memberPath(right) === undefined) return [];
    return conditionsOf({ ...where, name: swapped, args: [right, left] } as Expression);
  }
  // Null also stands for absent members.
  if (name === 'isNull' || name === 'isUndefined') return [{ path, values: [null] }];
  if (right?.type !== 'val') return [];
  const { value } = right;
  // No value is equal to null, or before or after it.
  if (name === 'eq') return [{ path, values: value == null ? [] : [value] }];
  if (name === 'in' && Array.isArray(value)) {
    return [{ path, values: value.filter((one) => one != null) }];
  }
  if (name in FLIPPED && value != null) return [{ path, bound: name as BoundName, value }];
  return [];
}

/** Joins alternative values of one member into one condition. */
function alternatives(args: readonly Expression[]): MemberCondition[] {
  const values: unknown[] = [];
  let path: string | undefined;
  for (const arg of args) {
    const [condition, ...others] = conditionsOf(arg);
    if (condition === undefined || others.length > 0 || !('values' in condition)) return [];
    path ??= condition.path;
    if (path !== condition.path) return [];
    values.push(...condition.values);
  }
  return path === undefined ? [] : [{ path, values }];
}
