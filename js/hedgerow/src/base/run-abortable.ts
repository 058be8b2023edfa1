/** Checks and runs calls that only a signal ends. */

import { checkSignal, ending } from './abort-signal.js';
import { type DefinedMembers, optionsOf } from './check-options.js';

/**
 * Checks the options of a call, and does its `work`, which gets the options with a signal of its own, and the given
 * signal. Rejects at once on an abort; then `drop` gets a late result.
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
