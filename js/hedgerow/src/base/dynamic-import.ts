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

/** The parts that are loaded, or on their way, by the functions that load them. */
const loaded = new WeakMap<() => Promise<unknown>, Promise<unknown>>();

/** As `part`, but calls the same `load` once only, unless it fails: later calls get the part in the next microtask. */
export function partOnce<Part>(load: () => Promise<Part>): Promise<Part> {
  const before = loaded.get(load) as Promise<Part> | undefined;
  if (before !== undefined) return before;
  const loading = part(load);
  loaded.set(load, loading);
  loading.catch(() => loaded.delete(load));
  return loading;
}
