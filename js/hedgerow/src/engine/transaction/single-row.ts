/** Changes of one row that depend on its value: transactions of their own. */
import { HedgerowError } from '../../base/errors.js';
import { checkKey } from '../../base/key.js';
import { isPlain, shownAs } from '../../base/runtime-type-checks.js';
import type { ReadContext } from '../read/context.js';
import { readBack } from './edits.js';
import { type TransactionJob, Transactions } from './run.js';

/** A value at the moment of the call: as JSON text or bytes, and the names of its members that are `undefined`. */
export interface CapturedValue {
  readonly value: string | Uint8Array;
  readonly unset: readonly string[];
}

/** A function of the present value. */
type Change = (value: unknown) => unknown;

/** The change that `update` makes to a row: members to merge into it, or a function of its value. */
export type ValueUpdate<Value = unknown> =
  | { readonly [Name in keyof Value]?: Value[Name] | undefined }
  | ((value: Value | undefined) => Value | undefined | PromiseLike<Value | undefined>);

async function run<T>(
  from: ReadContext,
  key: string,
  job: TransactionJob,
  body: Parameters<Transactions['run']>[0],
): Promise<T> {
  checkKey(key);
  return (await new Transactions(from.host, from.branchHead).run(body, job)).value as T;
}

/** Puts a row that must not exist. */
export async function insert(
  from: ReadContext,
  key: string,
  taken: CapturedValue,
  job: TransactionJob,
): Promise<void> {
  await run(from, key, job, async (tx) => {
    if (await tx.has(key)) {
      throw new HedgerowError('exists', `there is a row ${JSON.stringify(key)}`, { key });
    }
    tx.put(key, readBack({ value: taken.value }));
  });
}

/** Changes a row; resolves to its new value. */
export async function update(
  from: ReadContext,
  key: string,
  change: Change | CapturedValue,
  job: TransactionJob,
): Promise<unknown> {
  const next = typeof change === 'function' ? change : merging(key, change);
  return run(from, key, job, async (tx) => {
    const value = await next(await tx.get(key));
    if (value !== undefined) tx.put(key, value);
    return tx.get(key);
  });
}

/** Returns the function that merges members into a row, or makes a row of them. */
function merging(key: string, { value, unset }: CapturedValue): Change {
  const members = readBack({ value });
  if (!isPlain(members)) {
    const message = `update takes a function, or members in a plain object, not ${shownAs(members)}`;
    throw new HedgerowError('invalid-argument', message);
  }
  return (row = {}) => {
    if (!isPlain(row)) {
      const message = `the row ${JSON.stringify(key)} is no object: update it by a function`;
      throw new HedgerowError('invalid-argument/value', message, { key });
    }
    const merged: Record<string, unknown> = { ...row, ...members };
    for (const name of unset) delete merged[name];
    return merged;
  };
}
