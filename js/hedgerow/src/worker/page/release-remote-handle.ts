/** Releases handles when their user does, or once they are garbage. */
import { disposable } from '../../base/disposable.js';
import { ReleaseRegistry } from '../../base/finalization-registry.js';
import type { WorkerLink } from './worker-link.js';

const forgotten = new ReleaseRegistry<{ readonly link: WorkerLink; readonly id: number }>(
  ({ link, id }) => link.stop(id),
);

/** Makes `close` and `using` release the object of a handle, once. */
export function makeClosable(
  handle: object,
  link: WorkerLink,
  id: number,
  symbol: 'dispose' | 'asyncDispose',
  release: () => unknown = () => link.stop(id),
): void {
  forgotten.add(handle, { link, id });
  let released: { readonly result: unknown } | undefined;
  const value = () => {
    forgotten.delete(handle);
    released ??= { result: release() };
    return released.result;
  };
  Object.defineProperty(handle, 'close', { value });
  disposable(handle, symbol, value);
}
