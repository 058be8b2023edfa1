/** Definitions of indexes: their check, and their text for the core. */

import { anything, flag, mandatory, type OptionsOf, optionsOf } from '../../base/check-options.js';
import { HedgerowError } from '../../base/errors.js';
import { parsePointer } from '../../base/json-pointer.js';
import { LONE_SURROGATE, utf8Length } from '../../base/key.js';
import { MAX_COLUMNS, MAX_DEFINITION_BYTES } from '../../base/limits.js';
import { isPlain, shownAs } from '../../base/runtime-type-checks.js';
import { encodeScalar } from './scalar.js';

/**
 * A column of an index: a JSON pointer into the value of a row, such as `/owner`. With `words`, each word of the texts
 * there makes an entry: see `wordsOf`.
 */
export type ColumnPath = string | { readonly words: string };

const DEFINITION = {
  /**
   * A column, or several for a composite key. It leads to a string, a number or a boolean. One of the columns may be an
   * array of these, or have words: each member makes an entry. The index leaves out rows with anything else there.
   */
  path: mandatory(anything<ColumnPath | readonly ColumnPath[]>()),
  /** Only rows whose keys begin with this. */
  prefix: anything<string>(),
  /** Whether the index also lists null: a missing or null member, an empty array, and a text without words. */
  nulls: flag,
  /** Only entries whose first column comes before this one. */
  below: anything<string | number | boolean>(),
};

/** The rows that an index lists, and their keys in it. */
export interface IndexDefinition extends OptionsOf<typeof DEFINITION> {}

const WORDS = { words: mandatory(anything<string>()) };

/** A checked definition. */
export interface Index {
  readonly name: string;
  /** The definition as text: the name of the index's tree. */
  readonly text: string;
  readonly prefix: string;
  /** The names in the pointer of each column. */
  readonly columns: readonly (readonly string[])[];
  /** The column whose texts are split into words, or -1. */
  readonly words: number;
  readonly nulls: boolean;
  /** The encoded scalar that entries are below. */
  readonly below: string | undefined;
}

function buildIndexError(name: string, why: string): HedgerowError {
  return new HedgerowError('invalid-argument', `the index ${name}: ${why}`);
}

/** Checks a definition; throws `invalid-argument`. */
export function indexOf(name: string, definition: IndexDefinition): Index {
  const given = optionsOf(`the index ${name}`, definition, DEFINITION);
  const { path, prefix = '', nulls = false, below } = given;
  const all: readonly ColumnPath[] = Array.isArray(path) ? path : [path];
  if (all.length === 0 || all.length > MAX_COLUMNS) {
    throw buildIndexError(name, `path must be a JSON pointer, or 1 to ${MAX_COLUMNS} of them`);
  }
  if (typeof prefix !== 'string') throw buildIndexError(name, 'prefix must be a string');
  const words = all.findIndex(isPlain);
  const parts = [prefix];
  const columns = all.map((column, at) => {
    const hasWords = isPlain(column);
    const path = hasWords ? optionsOf(`the index ${name}`, column, WORDS).words : column;
    const names = parsePointer(path);
    if (names === undefined) throw buildIndexError(name, `not a JSON pointer: ${shownAs(path)}`);
    if (hasWords && at !== words) throw buildIndexError(name, 'two columns have words');
    parts.push(hasWords ? `w${path}` : path);
    return names;
  });
  const limit = encodeScalar(below);
  if (below !== limit && limit === undefined) throw buildIndexError(name, 'below must be a scalar');
  if (nulls) parts.push('?');
  if (limit !== undefined) parts.push(`<${limit}`);
  const text = JSON.stringify(parts);
  if (LONE_SURROGATE.test(prefix)) throw buildIndexError(name, 'it holds half of a surrogate pair');
  if (utf8Length(text) > MAX_DEFINITION_BYTES) {
    throw buildIndexError(name, `its definition takes more than ${MAX_DEFINITION_BYTES} bytes`);
  }
  return { name, text, prefix, columns, words, nulls, below: limit };
}
