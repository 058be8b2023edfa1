/** The form of values in failures. */
import { inspect } from 'node:util';

/** The longest text of a value that a failure prints. */
const LONGEST_TEXT = 800;

/** Prints a value in one line and cuts it off where it is long. */
export function line(value: unknown): string {
  const text = inspect(value, {
    depth: 6,
    breakLength: Number.POSITIVE_INFINITY,
    compact: true,
    maxArrayLength: 40,
    maxStringLength: 80,
  });
  return text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT)}…` : text;
}
