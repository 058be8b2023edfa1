import type { Call, HandleKind } from '../protocol.js';
import { refuseArgument } from './argument-references.js';
import type { WorkerLink } from './worker-link.js';

/** The object that a handle stands for: the end of `path`, which begins at the object with the number `target`. */
export interface HandleTarget {
  readonly link: WorkerLink;
  readonly kind: HandleKind;
  readonly target: number;
  readonly path: readonly Call[];
  readonly tables: readonly string[];
}

const owns = new WeakMap<object, HandleTarget>();

export function hold(handle: object, own: HandleTarget): void {
  owns.set(handle, own);
}

/** Returns the target of a handle. */
export const ownOf = (handle: object): HandleTarget => owns.get(handle) as HandleTarget;

/**
 * Returns the number of the object that a handle stands for, `undefined` for other values. Numbers belong to one
 * connection.
 */
export function numberOf(value: unknown, link: WorkerLink): number | undefined {
  const own = owns.get(value as object);
  if (own === undefined || own.path.length > 0) return undefined;
  if (own.link === link) return own.target;
  return refuseArgument('a handle of another connection: give the name of its branch, or a root');
}
