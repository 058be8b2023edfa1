/** Definitions of indexes, and how the core is told of them. */
import { HedgerowError } from '../base/errors.js';
import { namesOf } from '../base/json-pointer.js';
import { LONE_SURROGATE, utf8Length } from '../base/key.js';
import { shownAs } from '../base/kind.js';
import { MAX_COLUMNS, MAX_DEFINITION_BYTES } from '../base/limits.js';
import { optionsOf } from '../base/options.js';

/** What an index is made of. */
export interface IndexDefinition {
  /**
   * A JSON pointer into the value of a row, such as `/owner`, or several for a composite key. What
   * stands there is a string, a number or a boolean; or an array of those, in one of the columns,
   * for an entry each. Rows that have something else there are not in the index.
   */
  readonly path: string | readonly string[];
  /** Only rows whose keys begin with this. */
  readonly prefix?: string | undefined;
}

/** A definition that was checked. */
export interface Index {
  readonly name: string;
  /** As it stands in the name of its tree. */
  readonly text: string;
  readonly prefix: string;
  /** For each column the names on the way to it. */
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
