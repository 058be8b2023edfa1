/** The code that splits texts into words. A page with an index of words loads it before it opens a store. */
import { part } from '../../base/dynamic-import.js';
import type { wordsOf } from './words.js';

let split: typeof wordsOf;

/** Loads the code. */
export async function loadWords(): Promise<void> {
  split = (await part(() => import('./words.js'))).wordsOf;
}

/** Splits a text as `wordsOf` does, once its code is loaded. */
export const splitWords: typeof wordsOf = (text) => split(text);
