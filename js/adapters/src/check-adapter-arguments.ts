/** The checks that the adapters share: of the store that an app gives them, and of their keys. */

import type { Store } from 'hedgerow';
import { checkHas, checkKey, HedgerowError, hasCalls, kindOf } from 'hedgerow/kit';

/** An open store or branch, a promise of one, or a function that opens one when it is first needed. */
export type StoreSource<Handle extends object = Store> =
  | Handle
  | PromiseLike<Handle>
  | (() => Handle | PromiseLike<Handle>);

/**
 * Returns a function that resolves to the handle. A function of the app is called at the first use, and again only
 * after it has failed. Throws `invalid-argument` for a value that is no handle, at once or when the function is called.
 */
export function openedOnce<Handle extends object = Store>(
  call: string,
  source: StoreSource<Handle>,
): () => Promise<Handle> {
  const checkHandle = (handle: Handle): Handle => {
    const kinds = 'an open store, a promise of one, or a function that opens one';
    checkHas(call, handle, 'get put', kinds);
    return handle;
  };
  const isLater = typeof source === 'function' || hasCalls(source, 'then');
  if (!isLater) checkHandle(source as Handle);
  let opened: Promise<Handle> | undefined;
  const open = async () => checkHandle(await (typeof source === 'function' ? source() : source));
  return () => {
    opened ??= open().catch((cause: unknown) => {
      opened = undefined;
      throw cause;
    });
    return opened;
  };
}

/** Checks the prefix of an adapter's keys. Throws `invalid-argument/key` if no key can begin with it. */
export function checkedPrefix(call: string, prefix = ''): string {
  checkKey(prefix, `${call}: prefix`);
  return prefix;
}

/** Throws `invalid-argument` unless `callback` is a function. */
export function checkCallback(call: string, callback: unknown): void {
  if (typeof callback === 'function') return;
  const message = `${call} takes a function, not ${kindOf(callback)}`;
  throw new HedgerowError('invalid-argument', message);
}

/** Returns the key of a row, below the prefix of an adapter. Throws `invalid-argument/key`. */
export function rowKey(prefix: string, key: string): string {
  checkKey(key);
  return prefix + key;
}
