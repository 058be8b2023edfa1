/** Transactions whose function is in the page. */
import { disposable } from '../../base/disposable.js';
import { refuseFunction } from './argument-references.js';
import { type HandleTarget, ownOf } from './remote-handle-path.js';

type HandleOf = (own: HandleTarget) => object;
type Calls = Record<string, (...args: unknown[]) => unknown>;

/** Runs a transaction: `transaction` or `commit`. Its function runs again when the worker asks. */
export function runRemoteTransaction(
  { link, target, path, tables }: HandleTarget,
  name: string,
  [body, ...args]: unknown[],
  handleOf: HandleOf,
): Promise<unknown> {
  if (typeof body !== 'function') refuseFunction(name);
  let value: unknown;
  return new Promise((resolve, reject) => {
    const id = link.call(target, [...path, [name, ...args]], {
      ok: (roots) => {
        if (name !== 'commit') return resolve(value);
        const close = () => link.stop(id);
        const result = { ...(roots as object), value, close };
        disposable(result, 'dispose', close);
        resolve(result);
      },
      no: reject,
      run: async (target) => {
        value = await (body as (tx: object) => unknown)(
          handleOf({ link, kind: 'tx', target, path: [], tables }),
        );
      },
    });
  });
}

/** Changes a row by a function of the page, in the current transaction or in a new one. */
export function updateRemoteRow(
  self: object,
  [key, change, options]: unknown[],
  handleOf: HandleOf,
): Promise<unknown> {
  const own = ownOf(self);
  const [[table] = []] = own.path;
  const update = async (at: Calls) => {
    const row = await at.get?.(key);
    if (row === undefined && table !== undefined) return undefined;
    const next = await (change as (row: unknown) => unknown)(row);
    if (next === undefined) return row;
    if (table === undefined) {
      at.put?.(key, next);
      return at.get?.(key);
    }
    // An update checks that the key stays the same.
    const unset = Object.keys(row as object).map((name) => [name, undefined]);
    return at.update?.(key, { ...Object.fromEntries(unset), ...(next as object) });
  };
  if (own.target < 0) return update(self as Calls);
  const body = (tx: Record<string, unknown>) =>
    update((table === undefined ? tx : tx[table]) as Calls);
  return runRemoteTransaction(
    { ...own, path: [] },
    'transaction',
    options === undefined ? [body] : [body, options],
    handleOf,
  );
}
