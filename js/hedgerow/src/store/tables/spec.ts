/** The checked definition of a table: how its rows are keyed, kept and indexed. */

import {
  anything,
  flag,
  mandatory,
  type OptionsOf,
  optionsOf,
  plain,
} from '../../base/check-options.js';
import { HedgerowError } from '../../base/errors.js';
import { freezeShared } from '../../base/freeze-shared.js';
import { checkKey } from '../../base/key.js';
import { isPlain, kindOf, memberOf } from '../../base/runtime-type-checks.js';
import type { ColumnPath, IndexDefinition } from '../../core/indexes/definition.js';
import { indexesOf } from '../../core/indexes/index-set.js';
import { pointerOf, pointerTo, wordsIn } from './column-json-pointer.js';
import { namedError, throwTableError } from './errors.js';
import { checkRow, type FormatModules, keptOf, type Row, type RowFormat } from './row-format.js';
import { encodedKeys, plainKeys, type RowKeys } from './row-key.js';
import type { StandardSchema } from './standard-schema.js';
import type { TableDefinition } from './types.js';

/** The member of a stored row that has the version of its form; rows without it have version 1. */
export const VERSION = '~v';
const VERSION_POINTER = pointerTo(VERSION);

export type { Row };

/** An index of a table. */
export interface TableIndex {
  /** Its name in the definition of the table. */
  readonly name: string;
  /** Its name in the store. */
  readonly stored: string;
  /** Names of members, or JSON pointers, as conditions have them; for columns of words, their `wordsIn`. */
  readonly columns: readonly string[];
  /** Its columns in the store. */
  readonly paths: readonly ColumnPath[];
  /** Whether it has rows that lack a column. */
  readonly nulls: boolean;
  /** Whether it lists rows of lower versions where it will list them after the migration. */
  readonly isKept: boolean;
}

/** A row on its way to the store. */
export interface EncodedRow {
  readonly key: string;
  readonly value: unknown;
}

/** A row of a lower version, brought forward; `text` is its value as JSON. */
export interface NewestRow extends EncodedRow {
  readonly text: string;
}

/** A function that brings a row forward. Throws an error that says why it cannot. */
export type Forward = (spec: Spec, row: Row, from: number) => NewestRow;

/** As `FormatModules`, with the code that brings rows forward; absent if no table has a version. */
export interface TableModules extends FormatModules {
  readonly migrations?: { readonly bringRow: Forward } | undefined;
}

const TABLE = {
  key: mandatory(anything<unknown>()),
  indexes: plain<object>(),
  prefix: anything<string>(),
  values: anything<unknown>(),
  schema: anything<unknown>(),
  validate: anything<boolean>(),
  version: anything<number>(),
  migrate: anything<unknown>(),
  keeps: anything<unknown>(),
};
const INDEX = { columns: mandatory(anything<unknown>()), nulls: flag };

/** The checked definition of a table. */
export class Spec {
  readonly name: string;
  readonly prefix: string;
  readonly keys: RowKeys;
  readonly indexes: readonly TableIndex[];
  readonly kept: RowFormat;
  /** The schema that checks rows when they are written. */
  readonly schema: StandardSchema | undefined;
  readonly version: number;
  readonly #validateRow: ((schema: StandardSchema, row: unknown) => unknown) | undefined;
  readonly migrate: ((row: Row, from: number) => unknown) | undefined;
  readonly #forward: Forward | undefined;
  /** Pointers to the columns that `migrate` leaves as they are. */
  readonly keeps: readonly string[];
  /** Called with the version of a row that is newer than this one. */
  onNewer: ((version: number) => void) | undefined;

  constructor(name: string, definition: unknown, ways: TableModules) {
    this.name = name;
    const given = optionsOf('table()', definition as TableDefinition<Row>, TABLE, 'a definition');
    const {
      key,
      indexes = {},
      prefix = `${name}/`,
      values = 'json',
      schema,
      validate = true,
    } = given;
    const { version = 1, migrate, keeps = [] } = given;
    if (typeof prefix !== 'string')
      throwTableError(name, `prefix must be a string, not ${kindOf(prefix)}`);
    checkKey(prefix, 'prefix');
    this.prefix = prefix;
    this.keys = keysOf(name, prefix, key);
    this.kept = keptOf(name, values, ways);
    if (schema !== undefined && ways.schemas?.isSchema(schema) !== true) {
      throwTableError(
        name,
        'schema must follow Standard Schema, version 1, as those of zod, valibot and arktype do',
      );
    }
    if (typeof validate !== 'boolean') throwTableError(name, 'validate must be a boolean');
    this.schema = validate ? (schema as StandardSchema | undefined) : undefined;
    this.#validateRow = ways.schemas?.validateRow;
    if (!Number.isSafeInteger(version) || version < 1) {
      throwTableError(name, `version must be a whole number from 1 on, not ${String(version)}`);
    }
    if (migrate !== undefined && typeof migrate !== 'function') {
      throwTableError(name, `migrate must be a function, not ${kindOf(migrate)}`);
    }
    if (version > 1 && migrate === undefined) {
      throwTableError(
        name,
        `version ${version} needs migrate, a function that makes its rows of those of a lower version`,
      );
    }
    this.version = version;
    this.#forward = ways.migrations?.bringRow;
    this.migrate = migrate as ((row: Row, from: number) => unknown) | undefined;
    if (!isPlain(indexes))
      throwTableError(name, `indexes must be a plain object, not ${kindOf(indexes)}`);
    if (!Array.isArray(keeps) || !keeps.every((column) => typeof column === 'string')) {
      throwTableError(name, 'keeps must be a list of columns');
    }
    this.keeps = keeps.map(pointerOf);
    this.indexes = Object.entries(indexes).map(([index, given]) =>
      indexOf(name, index, given, this.keeps),
    );
    indexesOf(this.definitions());
  }

  /** Whether the store can take the key and the value of rows as they are. */
  get isAsStored(): boolean {
    return this.kept.isPlain && this.schema === undefined && this.version === 1;
  }

  /** The name in the store of the index of rows that a migration must still bring forward. */
  get oldIndex(): string {
    return `${this.name}.${VERSION}`;
  }

  /** Returns the definitions of its indexes, by their names in the store. */
  definitions(): Record<string, IndexDefinition> {
    const { prefix, version } = this;
    const all: Record<string, IndexDefinition> = {};
    for (const { stored, paths, nulls } of this.indexes) {
      all[stored] = { path: paths, prefix, nulls };
    }
    if (version > 1) {
      all[this.oldIndex] = { path: VERSION_POINTER, prefix, nulls: true, below: version };
    }
    return all;
  }

  /**
   * Checks a row, and makes its key and its stored value. Brings a row forward if it names a lower version. Throws
   * `invalid-argument/value`, `invalid-argument/key` and `newer-version/schema`.
   */
  encode(given: unknown): EncodedRow {
    const from = versionOf(given);
    if (from === undefined) return this.encodeNewest(given);
    this.checkKnown(from);
    const row = omitVersion(given) as Row;
    return from === this.version ? this.encodeNewest(row) : this.#bringRow(row, from);
  }

  /** Encodes a row of this version, which names no version. */
  encodeNewest(given: unknown): EncodedRow {
    const row = this.schema === undefined ? given : this.#validateRow?.(this.schema, given);
    checkRow(row);
    checkUnversioned(row);
    const key = this.keys.ofRow(row);
    const value = this.kept.encode(row);
    return { key, value: this.version === 1 ? value : this.#stampVersion(value) };
  }

  #stampVersion(value: unknown): Row {
    if (isPlain(value)) {
      checkUnversioned(value);
      return { ...value, [VERSION]: this.version };
    }
    const message = `values.encode must make an object, not ${kindOf(value)}: it gets the version of the row`;
    throw new HedgerowError('invalid-argument/value', message, { pointer: '' });
  }

  /**
   * Makes the row of a stored value, brought forward if it has a lower version. Throws `newer-version/schema` and
   * `invalid-argument/value`.
   */
  readonly decode = (stored: unknown): Row => {
    try {
      return this.#decodeStored(stored);
    } catch (cause) {
      throw namedError(cause, this.name, this.shownKey(stored));
    }
  };

  #decodeStored(stored: unknown): Row {
    const from = versionOf(stored) ?? 1;
    this.checkKnown(from);
    const row = this.kept.decode(omitVersion(stored));
    // A read returns the same as after the migration of the row.
    return from === this.version
      ? row
      : this.#decodeStored(JSON.parse(this.#bringRow(row, from).text));
  }

  /** Brings a stored row of a lower version forward. Throws an error that says why it cannot. */
  bringForward(stored: unknown): EncodedRow {
    return this.#bringRow(this.kept.decode(omitVersion(stored)), versionOf(stored) ?? 1);
  }

  /** Throws `newer-version/schema` if a version is above the version of the table. */
  checkKnown(version: number): void {
    if (version <= this.version) return;
    this.onNewer?.(version);
    const message = `its form is of version ${version}, and this app knows ${this.version}: load the newer app`;
    throw new HedgerowError('newer-version/schema', message);
  }

  /**
   * Decodes a value that others may hold to a row that others may hold: copies the value if `migrate` or a codec may
   * change it.
   */
  readonly rowOf = (_key: string, stored: unknown): Row => {
    const isKept = this.kept.isPlain && (versionOf(stored) ?? 1) === this.version;
    return freezeShared(this.decode(isKept ? stored : structuredClone(stored)));
  };

  /** Decodes a row that may be absent. */
  readonly decodeFound = (stored: unknown): Row | undefined =>
    stored === undefined ? undefined : this.decode(stored);

  #bringRow(row: Row, from: number): NewestRow {
    if (this.#forward !== undefined) return this.#forward(this, row, from);
    // No version is below 1.
    throw new HedgerowError('invalid-argument/value', `there is no version ${from}`);
  }

  /** Returns the key of a row as calls take it, as far as the row has it. For errors. */
  shownKey(row: unknown): unknown {
    try {
      const parts = this.keys.columns.map((column) => (row as Row)[column]);
      return parts.length === 1 ? parts[0] : parts;
    } catch {
      // It is no object, or a getter has thrown.
      return undefined;
    }
  }
}

/**
 * Returns the version that a stored value names, or `undefined`. Throws `invalid-argument/value` for a malformed one.
 */
export function versionOf(stored: unknown): number | undefined {
  const version = memberOf(stored, VERSION);
  if (version === undefined) return undefined;
  if (Number.isSafeInteger(version) && (version as number) >= 1) return version as number;
  const shown = typeof version === 'number' ? version : kindOf(version);
  throw new HedgerowError(
    'invalid-argument/value',
    `${VERSION} of a stored row is no version: ${shown}`,
    {
      pointer: VERSION_POINTER,
    },
  );
}

/** Returns a row without its version. */
function omitVersion(row: unknown): unknown {
  if (typeof row !== 'object' || row === null || !(VERSION in row)) return row;
  const { [VERSION]: _, ...others } = row as Row;
  return others;
}

function checkUnversioned(row: object): void {
  if (!(VERSION in row)) return;
  const message = `a row has no member ${VERSION}: it tells the version of stored rows`;
  throw new HedgerowError('invalid-argument/value', message, { pointer: VERSION_POINTER });
}

function keysOf(table: string, prefix: string, key: unknown): RowKeys {
  const names: readonly unknown[] = Array.isArray(key) ? key : [key];
  const isList = names.length > 0 && new Set(names).size === names.length;
  if (!isList || !names.every((name) => typeof name === 'string')) {
    return throwTableError(table, 'key must be the name of a member, or a list of such names');
  }
  if (names.some((name) => name.startsWith('/') || name === VERSION)) {
    return throwTableError(
      table,
      `key must have names of members at the top of a row, not ${names}`,
    );
  }
  return typeof key === 'string' ? plainKeys(prefix, key) : encodedKeys(prefix, names);
}

function indexOf(
  table: string,
  name: string,
  given: unknown,
  keeps: readonly string[],
): TableIndex {
  if (name === VERSION)
    throwTableError(table, `no index has the name ${VERSION}: the table has one of it`);
  const { columns, nulls = true } = Array.isArray(given)
    ? { columns: given }
    : optionsOf(`the index ${name}`, given as OptionsOf<typeof INDEX>, INDEX, 'a definition');
  if (!Array.isArray(columns) || columns.length === 0) {
    throwTableError(table, `the index ${name} must list its columns`);
  }
  const paths = columns.map((column: unknown) => {
    if (typeof column === 'string') return pointerOf(column);
    const words = (column as { words?: unknown } | null)?.words;
    if (typeof words === 'string') return { words: pointerOf(words) };
    return throwTableError(
      table,
      `the index ${name}: a column is the name of a member, or { words: name }`,
    );
  });
  const names = columns.map((column) =>
    typeof column === 'string' ? column : wordsIn(column.words),
  );
  if (new Set(names).size < names.length)
    throwTableError(table, `the index ${name} has a column twice`);
  const isKept = paths.every((path) =>
    keeps.includes(typeof path === 'string' ? path : path.words),
  );
  return { name, stored: `${table}.${name}`, columns: names, paths, nulls, isKept };
}
