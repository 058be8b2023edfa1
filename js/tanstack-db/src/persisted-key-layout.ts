/** The keys of a persisted collection in a store. */

import { encodeScalar, HedgerowError, kindOf, MAX_KEY_BYTES, Tag, utf8Length } from 'hedgerow/kit';
import type { Key } from './table-source.js';

/** The position of the collection in its log, and its indexes. */
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
  /** The indexes, by their signatures. */
  readonly indexes: Readonly<Record<string, IndexMeta>>;
  /** The number of indexes made so far. */
  readonly made: number;
}

/** An index. */
export interface IndexMeta {
  readonly number: number;
  /** The path of the member that it lists; absent if it lists no rows, since its expression is another one. */
  readonly path?: readonly string[];
}

/** The places of a collection. Only `rows`, `notes`, `log` and `index` have places under them. */
export class CollectionKeys {
  readonly all: string;
  /** The place of `Meta`, which changes with each transaction, as the log does: one watch sees both. */
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
    throw new HedgerowError('invalid-argument/key', message);
  }

  /** Returns the key of a transaction in the log, which is in the order of transactions. */
  transaction(term: number, seq: number): string {
    return `${this.log}${encodeScalar(term)}${encodeScalar(seq)}`;
  }

  index({ number }: IndexMeta): string {
    return `${this.all}i/${number}/`;
  }

  /** Returns the prefix of rows whose member an index cannot list: they are always read. */
  others({ number }: IndexMeta): string {
    return `${this.all}o/${number}/`;
  }

  /** Returns the key of an entry of an index: the member, and the key of its row. */
  entry(index: IndexMeta, member: unknown, rowKey: string): string {
    const text = encodeListedMember(member);
    const key = rowKey.slice(this.rows.length);
    const entry = text === undefined ? undefined : this.index(index) + text + key;
    const isShort = entry !== undefined && utf8Length(entry) <= MAX_KEY_BYTES;
    return isShort ? entry : this.others(index) + key;
  }

  /** Returns the key of the row of an entry. */
  rowOf(index: IndexMeta, entry: string): string {
    const others = this.others(index);
    if (entry.startsWith(others)) return this.rows + entry.slice(others.length);
    const text = entry.slice(this.index(index).length);
    return this.rows + text.slice(endOfScalar(text));
  }
}

/** Returns the value by which a member is listed: for a date its time, as it is compared; for an absent member null. */
export function toListedValue(member: unknown): unknown {
  return member instanceof Date ? member.getTime() : (member ?? null);
}

/** Encodes a member in the order of members; returns `undefined` for a member that has no such text. */
export function encodeListedMember(member: unknown): string | undefined {
  const column = toListedValue(member);
  return column === null ? Tag.null : encodeScalar(column);
}

/** Finds the end of the first encoded scalar of a text. */
function endOfScalar(text: string): number {
  if (text[0] === Tag.string) return text.indexOf('\0') + 1;
  return text[0] === Tag.number ? NUMBER_LENGTH : 1;
}

const NUMBER_LENGTH = (encodeScalar(0) as string).length;
