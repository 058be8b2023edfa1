import { HedgerowError } from '../base/errors.js';

/** Throws `invalid-argument` unless a timer can wait so many milliseconds: other numbers end it at once. */
export function checkMs(call: string, name: string, ms: unknown): void {
  if (typeof ms === 'number' && ms > 0 && ms < 2 ** 31) return;
  throw new HedgerowError(
    'invalid-argument',
    `${call}: ${name} must be above 0, and below 2 ** 31`,
  );
}
