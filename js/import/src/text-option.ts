/** Checks text options, such as the names of sources. */

import { HedgerowError, shownAs } from 'hedgerow/kit';

/** Returns the text of an option. Throws `invalid-argument`. */
export function checkTextOption(call: string, name: string, value: unknown): string {
  if (typeof value === 'string' && !/\p{Surrogate}/u.test(value)) return value;
  const message = `${call}: ${name} must be well-formed text, not ${shownAs(value)}`;
  throw new HedgerowError('invalid-argument', message);
}
