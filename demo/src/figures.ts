/** Publishes the page's results, for `headless.mjs` to read: `globalThis.demo`. */
import type { Stats } from 'hedgerow';
import type { Race } from './race-picture.js';

/** All measurements so far. Times are in milliseconds. */
export interface Figures {
  state: 'starting' | 'loading' | 'ready' | 'failed';
  /** In plain words, when the state is `failed`. */
  failure?: string;
  rows?: number;
  root?: string;
  /** Of all chunks, packed; of the chunks that the root reaches; and of each level of the tree of rows. */
  storedBytes?: number;
  liveBytes?: number;
  levels?: Stats['levels'];
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
  /** The last search; `state` is the page's state when it was answered. */
  search?: {
    typed: string;
    matches: number;
    scanMs: number;
    countMs: number;
    state: Figures['state'];
  };
  /** The list of all rows: how many there are, the numbers in view, and how many were read for it. */
  list?: { total: number; from: number; to: number; read: number };
  /** Of both indexes, when they are there; `root` is the root of the store with them, `bytes` are packed. */
  indexes?: { ms: number; worstGapMs: number; root: string; bytes: number; liveBytes: number };
  query?: {
    country: string;
    by: string;
    keys: readonly string[];
    ms: number;
    rows: number;
    /** The same without an index. */
    scan?: { ms: number; rows: number; isSame: boolean };
  };
  /** The last change that the live list has heard of. */
  live?: {
    key: string;
    population: number | undefined;
    /** From the call of the edit to the call of the watcher, by the clocks of both tabs. */
    ms: number | undefined;
    fromOther: boolean;
    root: string;
  };
  /** The last step of the draft. */
  draft?: {
    step: string;
    ms: number;
    root: string;
    /** The draft's root, while there is a draft. */
    draftRoot: string | undefined;
    rows: number;
    draftRows: number | undefined;
  };
  /** The sum tree of `sums.html`. */
  sums?: {
    rows: number;
    total: string;
    hash: string;
    /** Of the load, or of opening a store with rows. */
    ms: number;
    wasThere: boolean;
  };
  /** The last proof. */
  proof?: { key: string; people: string | undefined; bytes: number; told: number; ms: number };
  /** The last change of a row there. */
  moved?: { key: string; ms: number; total: string; hash: string };
  /** The last result of `verify.html`. */
  verified?: {
    times: number;
    holds: boolean;
    firstMs: number;
    ms: number;
    /** Bytes that the page has loaded, as sent. */
    scriptBytes: number;
    /** Of scripts, unpacked. */
    unpackedBytes: number;
    otherBytes: number;
  };
  /** The last race. */
  race?: Race;
}

export const figures: Figures = { state: 'starting' };

Object.assign(globalThis, { demo: figures });
