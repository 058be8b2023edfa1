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

/** Returns a function that loads a part at its first call, and has it from then on. After a failure it tries again. */
export function partOnce<Part>(load: () => Promise<Part>): () => Promise<Part> {
  let loading: Promise<Part> | undefined;
  return () => {
    loading ??= part(load).catch((cause: unknown) => {
      loading = undefined;
      throw cause;
    });
    return loading;
  };
}
