/** The keys of the rows of a table: as calls take them, as rows hold them, and as the store keeps them. */

import { HedgerowError } from '../../base/errors.js';
import { checkKey } from '../../base/key.js';
import { buildKeyRange, type KeyRange } from '../../base/range.js';
import { kindOf } from '../../base/runtime-type-checks.js';
import { indexOf } from '../../core/indexes/definition.js';
import { type IndexRange, positionsOf } from '../../core/indexes/index-range.js';
import { encodeScalar } from '../../core/indexes/scalar.js';
import { pointerTo } from './column-json-pointer.js';

/** The way in which the keys of a table are made. */
export interface RowKeys {
  /** The columns of the key: names of members. */
  readonly columns: readonly string[];
  /** Whether the key is its one member as it is. */
  readonly isPlain: boolean;
  /** Returns the key of a row in the store; throws `invalid-argument/key`. */
  ofRow(row: Record<string, unknown>): string;
  /** Returns the key in the store for the key of a call; throws `invalid-argument/key`. */
  of(key: unknown): string;
  /** Returns the keys of a range of columns, as an index of these columns has them. */
  range(range: Omit<IndexRange, 'index'>): KeyRange;
}

function refuse(message: string, pointer?: string): never {
  throw new HedgerowError('invalid-argument/key', message, { pointer });
}

/** Makes keys under `prefix` that are the member `name` of rows as it is, a string. */
export function plainKeys(prefix: string, name: string): RowKeys {
  const prefixKey = (key: unknown, isOfRow: boolean): string => {
    if (typeof key === 'string') return prefix + key;
    const where = isOfRow ? `the member ${name}` : 'the key';
    const way = typeof key === 'number' ? `: declare it as key: ['${name}']` : '';
    return refuse(
      `${where} is ${kindOf(key)}, not a string${way}`,
      isOfRow ? `/${name}` : undefined,
    );
  };
  return {
    columns: [name],
    isPlain: true,
    ofRow: (row) => prefixKey(row[name], true),
    of: (key) => prefixKey(key, false),
    range: (range) => plainRange(prefix, range),
  };
}

/** Returns a range of the one column, which is a string: bounds are keys. */
function plainRange(prefix: string, range: Omit<IndexRange, 'index'>): KeyRange {
  const prefixBound = (value: unknown) => {
    if (value === undefined) return undefined;
    const [one] = Array.isArray(value) ? value : [value];
    checkKey(one);
    return prefix + one;
  };
  const { equals, prefix: start, gt, gte, lt, lte } = range;
  if (equals !== undefined)
    return buildKeyRange({ gte: prefixBound(equals), lte: prefixBound(equals) });
  return buildKeyRange({
    prefix: prefix + (start ?? ''),
    gt: prefixBound(gt),
    gte: prefixBound(gte),
    lt: prefixBound(lt),
    lte: prefixBound(lte),
  });
}

/** Makes keys under `prefix` that encode the members `names` of rows, in the order of their values. */
export function encodedKeys(prefix: string, names: readonly string[]): RowKeys {
  /** The key as an index of these columns, whose entries name no further row. */
  const columns = indexOf('its key', { path: names.map(pointerTo) });
  const part = (value: unknown, name: string): string => {
    const text = value === null ? undefined : encodeScalar(value);
    return text ?? refuse(`the member ${name} of a key cannot be ${kindOf(value)}`, `/${name}`);
  };
  return {
    columns: names,
    isPlain: false,
    ofRow(row) {
      let key = prefix;
      for (const name of names) key += part(row[name], name);
      return key;
    },
    of(key) {
      const parts: readonly unknown[] =
        names.length === 1 && !Array.isArray(key) ? [key] : (key as []);
      if (!Array.isArray(parts) || parts.length !== names.length) {
        return refuse(`a key of this table is [${names.join(', ')}], not ${kindOf(key)}`);
      }
      return prefix + parts.map((value, at) => part(value, names[at] as string)).join('');
    },
    range(range) {
      const { prefix: start, ...bounds } = positionsOf(columns, {
        index: '',
        ...range,
      }) as KeyRange;
      const all = { prefix: prefix + (start ?? '') } as Record<string, string>;
      for (const [name, bound] of Object.entries(bounds)) {
        if (bound !== undefined) all[name] = prefix + bound;
      }
      return all as KeyRange;
    },
  };
}
