/** Keys, ranges of keys, and the records of an object store in the order of their keys. */

export type Key = number | string | readonly Key[];

/** Numbers come first, then strings, then arrays, as in IndexedDB. */
export function compareKeys(a: Key, b: Key): number {
  if (Array.isArray(a) && Array.isArray(b)) {
    for (let at = 0; at < Math.min(a.length, b.length); at++) {
      const order = compareKeys(a[at], b[at]);
      if (order !== 0) return order;
    }
    return a.length - b.length;
  }
  const rank = (key: Key) => (typeof key === 'number' ? 0 : typeof key === 'string' ? 1 : 2);
  if (rank(a) !== rank(b)) return rank(a) - rank(b);
  return a < b ? -1 : a > b ? 1 : 0;
}

export class HostileKeyRange {
  readonly lower: Key | undefined;
  readonly upper: Key | undefined;
  readonly lowerOpen: boolean;
  readonly upperOpen: boolean;

  constructor(lower?: Key, upper?: Key, lowerOpen = false, upperOpen = false) {
    this.lower = lower;
    this.upper = upper;
    this.lowerOpen = lowerOpen;
    this.upperOpen = upperOpen;
  }

  static bound(lower: Key, upper: Key, lowerOpen = false, upperOpen = false): HostileKeyRange {
    if (compareKeys(lower, upper) > 0) throw new DOMException('empty range', 'DataError');
    return new HostileKeyRange(lower, upper, lowerOpen, upperOpen);
  }

  static lowerBound(lower: Key, open = false): HostileKeyRange {
    return new HostileKeyRange(lower, undefined, open);
  }

  static upperBound(upper: Key, open = false): HostileKeyRange {
    return new HostileKeyRange(undefined, upper, false, open);
  }

  includes(key: Key): boolean {
    const { lower, upper } = this;
    const above = lower === undefined ? 1 : compareKeys(key, lower);
    const below = upper === undefined ? -1 : compareKeys(key, upper);
    return (this.lowerOpen ? above > 0 : above >= 0) && (this.upperOpen ? below < 0 : below <= 0);
  }
}

export type Query = Key | HostileKeyRange | undefined | null;

const isIn = (query: Query, key: Key) =>
  query === undefined || query === null
    ? true
    : query instanceof HostileKeyRange
      ? query.includes(key)
      : compareKeys(query, key) === 0;

export interface StoredRecord {
  readonly key: Key;
  readonly value: unknown;
}

/** Returns the bytes of a record that count towards the quota. */
const RECORD_BYTES = 64;

function bytesIn(value: unknown): number {
  if (Array.isArray(value)) return value.reduce((sum, part) => sum + bytesIn(part), 0);
  if (value instanceof Blob) return value.size;
  return ArrayBuffer.isView(value) ? value.byteLength : 8;
}

const sizeOf = ({ value }: StoredRecord) => RECORD_BYTES + bytesIn(value);

/** Clones the values that the adapter stores, as structured clone does. */
export function copyOf(value: unknown): unknown {
  if (value instanceof Uint8Array) return new Uint8Array(value);
  if (typeof value === 'object' && value !== null) return structuredClone(value);
  return value;
}

/** The records of one object store. */
export class Records {
  #sorted: StoredRecord[];
  bytes = 0;

  constructor(sorted: readonly StoredRecord[] = []) {
    this.#sorted = [...sorted];
    this.bytes = sorted.reduce((sum, record) => sum + sizeOf(record), 0);
  }

  copy(): Records {
    return new Records(this.#sorted);
  }

  /** Returns the records of a query in ascending order. */
  select(query: Query): StoredRecord[] {
    return this.#sorted.filter(({ key }) => isIn(query, key));
  }

  put(key: Key, value: unknown): void {
    this.delete(key);
    const record = { key, value };
    const at = this.#sorted.findIndex((other) => compareKeys(other.key, key) > 0);
    this.#sorted.splice(at < 0 ? this.#sorted.length : at, 0, record);
    this.bytes += sizeOf(record);
  }

  delete(query: Query): void {
    this.#sorted = this.#sorted.filter((record) => {
      const goes = isIn(query, record.key);
      if (goes) this.bytes -= sizeOf(record);
      return !goes;
    });
  }
}
