/** The faults of values, with their places. */

import { HedgerowError } from '../../../base/errors.js';
import { MAX_JSON_DEPTH } from '../../../base/limits.js';
import { pointerTo } from '../column-json-pointer.js';
import { type Members, tagOf } from './transit-tags.js';

/** Makes the error of a value. */
export function fault(message: string, pointer?: string, cause?: unknown): HedgerowError {
  const place = pointer ? `, at ${pointer}` : '';
  return new HedgerowError('invalid-argument/value', message + place, { pointer, cause });
}

const TOO_DEEP = `nested deeper than ${MAX_JSON_DEPTH}, or circular`;

/** Throws if a list or an object with `around` others around it is too deep. */
export function checkDepth(around: number): void {
  if (around >= MAX_JSON_DEPTH) throw fault(TOO_DEEP);
}

/**
 * Turns the error that `check` has thrown for a value into one with a pointer to the part at fault. A pointer leads
 * into a map as into a list of pairs, and into a set as into a list.
 */
export function locateFault(
  cause: unknown,
  value: unknown,
  check: (part: unknown) => unknown,
): HedgerowError {
  const isTooDeep = cause instanceof HedgerowError && cause.message === TOO_DEEP;
  // The way to the end of a circular value is long.
  const way = findFaultPath(value, check, isTooDeep ? 1 : MAX_JSON_DEPTH);
  // The error of this part: if several parts are wrong, `check` may have met another one first.
  const found = isTooDeep ? cause : (way.cause ?? cause);
  const isOurs = found instanceof HedgerowError;
  // A getter, or a proxy, has thrown.
  return fault(isOurs ? found.message : 'cannot be read', way.pointer, isOurs ? undefined : found);
}

interface FaultPath {
  readonly pointer: string;
  /** The error that `check` throws for this part. */
  readonly cause?: unknown;
}

/** Finds the way to the first part for which `check` throws, of at most `steps` steps. */
function findFaultPath(
  value: unknown,
  check: (part: unknown) => unknown,
  steps: number,
): FaultPath {
  if (steps === 0 || Object(value) !== value) return { pointer: '' };
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
    return { pointer: '' };
  } catch (thrown) {
    // Its parts cannot be read.
    if (step === '') return { pointer: '' };
    const { pointer, cause = thrown } = findFaultPath(part, check, steps - 1);
    return { pointer: step + pointer, cause };
  }
}
