/** What the page came to, for `headless.mjs` to read: `globalThis.demo`. */

/** All that has been measured so far. Times are in milliseconds. */
export interface Figures {
  state: 'starting' | 'loading' | 'ready' | 'failed';
  /** In plain words, when the state is `failed`. */
  failure?: string;
  rows?: number;
  root?: string;
  storedBytes?: number;
  segments?: number;
  memoryBytes?: number;
  load?: {
    order: string;
    ms: number;
    bytes: number;
    slices: number;
    longestSliceMs: number;
    storageMs: number;
    worstGapMs: number;
    dots: number;
  };
  opened?: { openMs: number; getMs: number; found: boolean };
  scan?: { ms: number; worstGapMs: number; dots: number };
  search?: { typed: string; matches: number; scanMs: number; countMs: number };
  comparison?: {
    rows: number;
    hedgerow: { ms: number; worstGapMs: number };
    indexedDb: { ms: number; worstGapMs: number };
  };
}

export const figures: Figures = { state: 'starting' };

Object.assign(globalThis, { demo: figures });
