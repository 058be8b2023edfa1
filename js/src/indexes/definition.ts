/** Definitions of indexes: their check, and their text for the core. */
import { HedgerowError } from '../base/errors.js';
import { namesOf } from '../base/json-pointer.js';
import { LONE_SURROGATE, utf8Length } from '../base/key.js';
import { shownAs } from '../base/kind.js';
import { MAX_COLUMNS, MAX_DEFINITION_BYTES } from '../base/limits.js';
import { optionsOf } from '../base/options.js';

/** Which rows an index lists, and under which keys. */
export interface IndexDefinition {
  /**
   * A JSON pointer into the value of a row, such as `/owner`, or several for a composite key. It leads
   * to a string, a number or a boolean. One of the columns may be an array of these: each member makes
   * an entry. Rows with anything else there are not in the index.
   */
  readonly path: string | readonly string[];
  /** Only rows whose keys begin with this. */
  readonly prefix?: string | undefined;
}

/** A checked definition. */
export interface Index {
  readonly name: string;
  /** The definition as text: the name of the index's tree. */
  readonly text: string;
  readonly prefix: string;
  /** For each column the names in its pointer. */
  readonly columns: readonly (readonly string[])[];
}

function refused(name: string, why: string): HedgerowError {
  return new HedgerowError('invalid-argument', `the index ${name}: ${why}`);
}

function columnOf(name: string, path: unknown): string[] {
  const names = namesOf(path);
  if (names !== undefined) return names;
  throw refused(name, `not a JSON pointer: ${shownAs(path)}`);
}

/** Checks a definition; throws `invalid-argument`. */
export function indexOf(name: string, definition: IndexDefinition): Index {
  const { path, prefix = '' } = optionsOf(`the index ${name}`, definition, 'path prefix');
  const paths = typeof path === 'string' ? [path] : path;
  if (!Array.isArray(paths) || paths.length === 0 || paths.length > MAX_COLUMNS) {
    throw refused(name, `path must be a JSON pointer, or 1 to ${MAX_COLUMNS} of them`);
  }
  if (typeof prefix !== 'string') throw refused(name, 'prefix must be a string');
  const columns = paths.map((one) => columnOf(name, one));
  const text = JSON.stringify([prefix, ...paths]);
  if (LONE_SURROGATE.test([prefix, ...paths].join(' '))) {
    throw refused(name, 'it holds half of a surrogate pair');
  }
  if (utf8Length(text) > MAX_DEFINITION_BYTES) {
    throw refused(name, `its definition takes more than ${MAX_DEFINITION_BYTES} bytes`);
  }
  return { name, text, prefix, columns };
}
