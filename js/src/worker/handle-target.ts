import { refuse } from './args.js';
import type { Link } from './link.js';
import type { Call, Kind } from './protocol.js';

/** What a handle stands for: what the path leads to, from the object with the number `target`. */
export interface HandleTarget {
  readonly link: Link;
  readonly kind: Kind;
  readonly target: number;
  readonly path: readonly Call[];
  readonly tables: readonly string[];
}

const owns = new WeakMap<object, HandleTarget>();

export function hold(handle: object, own: HandleTarget): void {
  owns.set(handle, own);
}

/** What a handle stands for. */
export const ownOf = (handle: object): HandleTarget => owns.get(handle) as HandleTarget;

/** The number of the object that a handle stands for; `undefined` for all else. Numbers are those of one connection. */
export function numberOf(value: unknown, link: Link): number | undefined {
  const own = owns.get(value as object);
  if (own === undefined || own.path.length > 0) return undefined;
  if (own.link === link) return own.target;
  return refuse('a handle of another connection: give the name of its branch, or a root');
}
