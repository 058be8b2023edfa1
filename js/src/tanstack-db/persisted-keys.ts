/** Where the rows of a persisted collection are in a store. */

import { HedgerowError } from '../base/errors.js';
import { utf8Length } from '../base/key.js';
import { kindOf } from '../base/kind.js';
import { MAX_KEY_BYTES } from '../base/limits.js';
import { encodeScalar, Tag } from '../core/indexes/scalar.js';
import type { Key } from './table-source.js';

/** How far the collection has come, and which indexes it has. */
export interface Meta {
  /** The version of the form of its rows. */
  readonly schema: number;
  /** How often the rows were dropped because of another version. */
  readonly epoch: number;
  readonly term: number;
  readonly seq: number;
  readonly version: number;
  /** The highest version whose transaction is not in the log any more. */
  readonly dropped: number;
  /** By their signatures. */
  readonly indexes: Readonly<Record<string, IndexMeta>>;
  /** How many indexes there have been. */
  readonly made: number;
}

/** An index. */
export interface IndexMeta {
  readonly number: number;
  /** The names on the way to the member that it lists; absent if nothing is listed: the expression is another one. */
  readonly path?: readonly string[];
}

/** The places of a collection; none is under another one, but for `rows`, `notes`, `log` and `index`. */
export class CollectionKeys {
  readonly all: string;
  /** Changes with each transaction, as the log does: one watch sees both. */
  readonly meta: string;
  readonly log: string;
  readonly rows: string;
  readonly notes: string;

  constructor(prefix: string, collectionId: string) {
    let name: string;
    try {
      name = encodeURIComponent(collectionId);
    } catch {
      const message = `the id of a collection is well-formed text, not ${kindOf(collectionId)}`;
      throw new HedgerowError('invalid-argument', message);
    }
    this.all = `${prefix}${name}/`;
    this.meta = `${this.all}t`;
    this.log = `${this.all}t/`;
    this.rows = `${this.all}r/`;
    this.notes = `${this.all}c/`;
  }

  row(key: Key): string {
    const text = encodeScalar(key);
    if (text !== undefined) return this.rows + text;
    const message = `the key of a row is well-formed text or a finite number, not ${kindOf(key)}`;
    throw new HedgerowError('invalid-key', message);
  }

  /** The key in the log of a transaction; the log is in the order of transactions. */
  transaction(term: number, seq: number): string {
    return `${this.log}${encodeScalar(term)}${encodeScalar(seq)}`;
  }

  index({ number }: IndexMeta): string {
    return `${this.all}i/${number}/`;
  }

  /** Under it are rows whose member an index cannot list: they are read in any case. */
  others({ number }: IndexMeta): string {
    return `${this.all}o/${number}/`;
  }

  /** The key of an entry of an index: the member, and the key of its row. */
  entry(index: IndexMeta, member: unknown, rowKey: string): string {
    const text = encodeListedMember(member);
    const key = rowKey.slice(this.rows.length);
    const entry = text === undefined ? undefined : this.index(index) + text + key;
    const isShort = entry !== undefined && utf8Length(entry) <= MAX_KEY_BYTES;
    return isShort ? entry : this.others(index) + key;
  }

  /** The key of the row of an entry. */
  rowOf(index: IndexMeta, entry: string): string {
    const others = this.others(index);
    if (entry.startsWith(others)) return this.rows + entry.slice(others.length);
    const text = entry.slice(this.index(index).length);
    return this.rows + text.slice(endOfScalar(text));
  }
}

/** How a member is listed: dates by their time, as they are compared; what is absent as null. */
export function toListedValue(member: unknown): unknown {
  return member instanceof Date ? member.getTime() : (member ?? null);
}

/** The text of a member in the order of members; `undefined` for what has none. */
export function encodeListedMember(member: unknown): string | undefined {
  const column = toListedValue(member);
  return column === null ? Tag.null : encodeScalar(column);
}

/** Where the first encoded scalar of a text ends. */
function endOfScalar(text: string): number {
  if (text[0] === Tag.string) return text.indexOf('\0') + 1;
  return text[0] === Tag.number ? NUMBER_LENGTH : 1;
}

const NUMBER_LENGTH = (encodeScalar(0) as string).length;
