/** Checks and runs calls that only a signal ends. */

import { checkSignal, ending } from './abort-signal.js';
import {
  type ChecksFor,
  type DefinedMembers,
  type OptionChecks,
  optionsOf,
  type SignalOptions,
} from './check-options.js';

/**
 * Checks the options of a call, and does its `work`, which gets the options with a signal of its own, and the given
 * signal. Rejects at once on an abort; then `drop` gets a late result.
 */
export function runAbortable<Options extends SignalOptions, Checks extends OptionChecks, T>(
  call: string,
  options: Options,
  checks: Checks & ChecksFor<Options, Checks>,
  work: (
    options: DefinedMembers<Options> & { readonly signal: AbortSignal | undefined },
    given: AbortSignal | undefined,
  ) => Promise<T>,
  drop?: (late: T) => void,
): Promise<T> {
  const wanted = optionsOf<Options, Checks>(call, options, checks);
  checkSignal(wanted.signal);
  const own = (signal: AbortSignal | undefined) => work({ ...wanted, signal }, wanted.signal);
  return ending(wanted.signal, own, { drop }).result;
}
