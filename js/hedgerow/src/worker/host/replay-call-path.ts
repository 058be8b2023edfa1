/** Replays a path of calls on an object of the store: only calls of the list. */
import { HedgerowError } from '../../base/errors.js';
import { type AnswerKind, CALLS, type Call, type HandleKind, isKind } from '../protocol.js';
import { type IsText, never, ofJson, ofStore } from './list-batch-sender.js';

/** The last call of a path. */
export interface Last {
  readonly object: object;
  readonly kind: HandleKind;
  readonly name: string;
  readonly args: unknown[];
  readonly answer: AnswerKind;
  /** Which of its members cross as text. */
  readonly isText: IsText;
}

/** Tables by their names, and whether their rows are plain JSON. */
export type TableForms = ReadonlyMap<string, boolean>;

const HAVING_TABLES: ReadonlySet<HandleKind> = new Set(['store', 'snapshot', 'tx']);

export function refuseCall(message: string): never {
  throw new HedgerowError('invalid-argument', message);
}

/** Calls a member of an object. Its name is in the list of calls, or is a table's. */
export const callMember = (object: object, name: string, args: unknown[]) =>
  (object as Record<string, (...args: unknown[]) => unknown>)[name]?.(...args);

/** Follows a path to its last call. */
export function lastOf(
  start: { readonly object: object; readonly kind: HandleKind },
  path: readonly Call[],
  tables: TableForms,
): Last {
  let { object, kind } = start;
  let isText = kind === 'export' ? never : ofStore;
  for (const [at, [name, ...args]] of path.entries()) {
    if (HAVING_TABLES.has(kind) && tables.has(name)) {
      object = (object as Record<string, object>)[name] as object;
      kind = 'table';
      isText = tables.get(name) ? ofJson : never;
      continue;
    }
    const gives = CALLS[kind].get(name);
    const isThere = name === 'each' || name === 'live' || name in object;
    if (gives === undefined || !isThere) refuseCall(`${kind} has no call ${String(name)}`);
    if (!isKind(gives)) {
      if (at < path.length - 1) refuseCall(`${name} is the last call of a path`);
      return { object, kind, name, args, answer: gives, isText };
    }
    const member = object[name as never] as unknown;
    object = (typeof member === 'function' ? callMember(object, name, args) : member) as object;
    kind = gives;
    if (gives === 'sums') isText = never;
  }
  return refuseCall('a path ends with a call');
}
