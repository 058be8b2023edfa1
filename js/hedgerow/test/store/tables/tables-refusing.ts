/** Tables whose calls are refused, and their errors. */
import { afterEach, expect } from 'vitest';
import { HedgerowError, memory, open, type Store, table } from '../../../src/index.js';
import { ofKind } from '../../support/error-kind.js';

export type Row = Record<string, unknown>;
/** A table, or a query, without types. */
// biome-ignore lint/suspicious/noExplicitAny: calls that TypeScript refuses
export type Any = any;

export const define = table as unknown as (definition: unknown) => unknown;

export const issues = {
  key: 'id',
  indexes: {
    byState: ['status', 'modified'],
    byTitle: { columns: ['title'], nulls: false },
    byTag: ['tags'],
  },
};
export const steps = { key: ['project', 'number', 'done'] };

export const opened: Store[] = [];
afterEach(async () => {
  for (const db of opened.splice(0)) await db.close();
});

export async function store(
  tables: object = { issues: define(issues), steps: define(steps) },
  more = {},
) {
  const db = await open('refused', { storage: memory(), tables: tables as never, ...more });
  opened.push(db);
  return db as Any;
}

export function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}
export const circular: Row = { id: 'circular' };
circular.self = circular;

export const NO_OBJECT = [null, 5, 5n, 'text', true, Symbol('s'), [], ['a'], undefined, () => ({})];
export const NO_OPTIONS = [
  null,
  'text',
  5,
  5n,
  true,
  [],
  new Map(),
  new Date(),
  revoked(),
  () => ({}),
];
export const NO_SIGNAL = [null, 5, 'abort', {}, { aborted: false }];

/** Returns the error of a call that must give a promise that rejects. */
export async function refused(call: () => Promise<unknown>): Promise<HedgerowError> {
  let answer: Promise<unknown>;
  try {
    answer = call();
  } catch (cause) {
    throw new Error('it has thrown in the turn of its call', { cause });
  }
  expect(answer).toBeInstanceOf(Promise);
  const error = await answer.then(
    (value) => expect.fail(`it has resolved to ${String(value)}`),
    (cause: unknown) => cause,
  );
  if (!(error instanceof HedgerowError)) throw error;
  return error;
}

export const named = (code: string, message: RegExp, facts: object = {}) =>
  expect.objectContaining({
    ...ofKind(code),
    message: expect.stringMatching(message),
    table: 'issues',
    ...facts,
  });
