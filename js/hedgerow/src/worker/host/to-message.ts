/** Values on their way to the page. */
import { isByteArray } from '../../base/is-byte-array.js';
import { type ErrorPayload, toErrorPayload } from '../error-payload.js';
import { trimBuffer } from '../trim-buffer.js';

/** An error of a value, with its place. */
export type ErrorAt = readonly [path: readonly (string | number)[], error: ErrorPayload];

/** The depth, and the number of members of a list, in which errors are looked for. */
const DEEPEST = 4;
const MOST_MEMBERS = 1000;

/** Takes the errors out of a value, and returns both: structured clones of errors lose their codes. */
export function toMessage(value: unknown): [value: unknown, errors: ErrorAt[]] {
  const errors: ErrorAt[] = [];
  const stripErrors = (one: unknown, path: readonly (string | number)[]): unknown => {
    if (one instanceof Error) {
      errors.push([path, toErrorPayload(one)]);
      return undefined;
    }
    if (isByteArray(one)) return trimBuffer(one);
    if (typeof one !== 'object' || one === null || path.length > DEEPEST) return one;
    if (Array.isArray(one)) {
      return one.map((member, at) =>
        at < MOST_MEMBERS ? stripErrors(member, [...path, at]) : member,
      );
    }
    if (Object.getPrototypeOf(one) !== Object.prototype) return one;
    const members = Object.entries(one).map(([name, member]) => [
      name,
      stripErrors(member, [...path, name]),
    ]);
    return Object.fromEntries(members);
  };
  return [stripErrors(value, []), errors];
}
