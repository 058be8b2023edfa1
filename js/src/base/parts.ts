/** Parts of the library that are loaded when they are first wanted. */
import { HedgerowError } from './errors.js';

/** What `load` brings, by `import()`; rejects with `not-loaded` when it cannot be had. */
export async function part<Part>(load: () => Promise<Part>): Promise<Part> {
  try {
    return await load();
  } catch (cause) {
    const remedy = 'try again, or have it at hand: preload(), hedgerow/full';
    throw new HedgerowError('not-loaded', `a part cannot be loaded: ${remedy}`, { cause });
  }
}
