/** Loads parts of the library at their first use. */
import { HedgerowError } from './errors.js';

/** Loads a part: `load` calls `import()`. Rejects with `unavailable/not-loaded` if that fails. */
export async function part<Part>(load: () => Promise<Part>): Promise<Part> {
  try {
    return await load();
  } catch (cause) {
    const remedy = 'try again, or have it at hand: preload(), hedgerow/full';
    throw new HedgerowError('unavailable/not-loaded', `a part cannot be loaded: ${remedy}`, {
      cause,
    });
  }
}
