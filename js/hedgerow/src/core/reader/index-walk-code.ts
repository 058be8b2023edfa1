/** The code of scans of indexes, which a page loads when it first reads one before the core has started. */
import { part } from '../../base/dynamic-import.js';

type Code = typeof import('./index-walk.js');

let code: Code | undefined;

/** Returns the code, if it is loaded. */
export const indexWalkCode = (): Code | undefined => code;

/** Loads the code; returns `undefined` if it is loaded. */
export function loadIndexWalks(): Promise<void> | undefined {
  return code === undefined ? load() : undefined;
}

async function load(): Promise<void> {
  code = await part(() => import('./index-walk.js'));
}
