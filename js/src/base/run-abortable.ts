/** How calls of callers that only a signal ends are checked and run. */
import { type DefinedMembers, optionsOf } from './options.js';
import { checkSignal, ending } from './signal.js';

/**
 * Checks the options of a call, and does its `work`, which gets them with a signal of its own, and the one that was
 * given. Rejects at once on an abort; then `drop` gets a result that comes too late.
 */
export function runAbortable<Options extends { readonly signal?: AbortSignal | undefined }, T>(
  call: string,
  options: Options,
  names: string,
  work: (
    options: DefinedMembers<Options> & { readonly signal: AbortSignal | undefined },
    given: AbortSignal | undefined,
  ) => Promise<T>,
  drop?: (late: T) => void,
): Promise<T> {
  const wanted = optionsOf(call, options, names);
  checkSignal(wanted.signal);
  const own = (signal: AbortSignal | undefined) => work({ ...wanted, signal }, wanted.signal);
  return ending(wanted.signal, own, { drop }).result;
}
