/** What is wrong with a value, and where. */

import { HedgerowError } from '../../base/errors.js';
import { MAX_JSON_DEPTH } from '../../base/limits.js';
import { pointerTo } from '../pointer.js';
import { type Members, tagOf } from './form.js';

/** The error of a value. */
export function fault(message: string, pointer?: string, cause?: unknown): HedgerowError {
  const place = pointer ? `, at ${pointer}` : '';
  return new HedgerowError('invalid-value', message + place, { pointer, cause });
}

const TOO_DEEP = `nested deeper than ${MAX_JSON_DEPTH}, or circular`;

/** Throws if a list or an object with so many around it is too deep. */
export function checkDepth(around: number): void {
  if (around >= MAX_JSON_DEPTH) throw fault(TOO_DEEP);
}

/**
 * The error of what `check` has thrown for a value, with a pointer to the part for which it does. A map is pointed into like
 * a list of pairs, and a set like a list.
 */
export function located(
  cause: unknown,
  value: unknown,
  check: (part: unknown) => unknown,
): HedgerowError {
  const isOurs = cause instanceof HedgerowError;
  // A getter, or a proxy, has thrown.
  const message = isOurs ? cause.message : 'cannot be read';
  // The way to the end of a circular value is long.
  const pointer = wayTo(value, check, message === TOO_DEEP ? 1 : MAX_JSON_DEPTH);
  return fault(message, pointer, isOurs ? undefined : cause);
}

/** The way to the first part for which `check` throws, of so many steps at most. */
function wayTo(value: unknown, check: (part: unknown) => unknown, steps: number): string {
  if (steps === 0 || Object(value) !== value) return '';
  let step = '';
  let part: unknown;
  try {
    const isMany = /^(Map|Set)$/.test(tagOf(value));
    const parts = (isMany ? [...(value as Set<unknown>)] : value) as Members;
    for (const name of Object.keys(parts)) {
      step = pointerTo(name);
      part = undefined;
      part = parts[name];
      check(part);
    }
    return '';
  } catch {
    return step + wayTo(part, check, steps - 1);
  }
}
