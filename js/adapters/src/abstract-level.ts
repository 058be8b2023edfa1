/**
 * A database of `abstract-level` in a store. Its keys are bytes, and the store's are text: each byte becomes the
 * character with its number, which keeps the order of keys. Its values are bytes, and are stored as bytes.
 */

import {
  type AbstractDatabaseOptions,
  AbstractIterator,
  type AbstractIteratorOptions,
  AbstractLevel,
  AbstractSnapshot,
} from 'abstract-level';
import type { HedgerowError, KeyRange, PatchOperation, Snapshot, Store } from 'hedgerow';
import { buildKeyRange, checkKey, checkPlain, isInRange } from 'hedgerow/kit';
import { checkedPrefix, openedOnce, type StoreSource } from './check-adapter-arguments.js';
import { clearKeyRange } from './delete-range.js';

/** Options of a `HedgerowLevel`. */
export interface HedgerowLevelOptions<Key, Value> extends AbstractDatabaseOptions<Key, Value> {
  /** The prefix of the store's keys; `''` by default. */
  readonly prefix?: string | undefined;
}

type Reader = Pick<Store, 'get' | 'getMany' | 'has' | 'scan'>;
/** A range as the base class gives it: encoded, with the limit -1 for no limit. */
interface LevelRange extends Partial<Record<'gt' | 'gte' | 'lt' | 'lte', Uint8Array>> {
  readonly reverse: boolean;
  readonly limit: number;
  readonly snapshot?: LevelSnapshot | undefined;
  readonly signal?: AbortSignal | undefined;
}
type LevelReadOptions = { readonly snapshot?: LevelSnapshot | undefined };
type Operation = { type: 'put' | 'del'; key: Uint8Array; value: Uint8Array };

const CODES: { readonly [cause: string]: string } = {
  key: 'INVALID_KEY',
  value: 'INVALID_VALUE',
  aborted: 'ABORTED',
  closed: 'DATABASE_NOT_OPEN',
  'corrupt-chunk': 'CORRUPTION',
  'missing-chunk': 'CORRUPTION',
};

/**
 * Returns the error that callers of a Level database know, with the store's error as its cause. `hedgerow/full` and the
 * package for React Native have error classes of their own, so only the code identifies an error.
 */
function levelError(cause: unknown): unknown {
  const { code, detail, message, name } = Object(cause) as HedgerowError;
  if (typeof code !== 'string' || code.startsWith('LEVEL_')) return cause;
  const hint = detail === 'key' ? ', in which one from 0x80 on counts twice' : '';
  const error = new Error(message + hint, { cause });
  if (code === 'aborted') error.name = name;
  return Object.assign(error, { code: `LEVEL_${CODES[detail ?? code] ?? 'IO_ERROR'}` });
}

async function asLevel<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw levelError(cause);
  }
}

/** Returns a value as bytes: a row that the app has put by other means becomes JSON. */
const bytesOf = (value: unknown): Uint8Array =>
  value instanceof Uint8Array ? value : new TextEncoder().encode(JSON.stringify(value));

class LevelSnapshot extends AbstractSnapshot {
  readonly held: Snapshot;

  constructor(options: object, held: Snapshot) {
    // @ts-expect-error: its types do not show the constructor
    super(options);
    this.held = held;
  }

  async _close(): Promise<void> {
    this.held.close();
  }
}

/** A Level database in a store, with keys below a prefix. It neither opens nor closes the store. */
export class HedgerowLevel<Key = string, Value = string> extends AbstractLevel<
  Uint8Array,
  Key,
  Value
> {
  readonly #opened: () => Promise<Store>;
  readonly #prefix: string;
  #db: Store | undefined;

  constructor(store: StoreSource, options: HedgerowLevelOptions<Key, Value> = {}) {
    checkPlain('HedgerowLevel', options);
    const { prefix, ...others } = options;
    super(
      {
        encodings: { view: true },
        has: true,
        seek: true,
        implicitSnapshots: true,
        explicitSnapshots: true,
        signals: { iterators: true },
      },
      others,
    );
    this.#opened = openedOnce('HedgerowLevel', store);
    this.#prefix = checkedPrefix('HedgerowLevel', prefix);
  }

  async _open(): Promise<void> {
    this.#db = await this.#opened();
  }

  get #store(): Store {
    return this.#db as Store;
  }

  #reader({ snapshot }: LevelReadOptions): Reader {
    return snapshot?.held ?? this.#store;
  }

  /** Throws `LEVEL_INVALID_KEY` for a key that is too long. */
  #key(bytes: Uint8Array): string {
    let key = this.#prefix;
    for (const byte of bytes) key += String.fromCharCode(byte);
    try {
      checkKey(key);
    } catch (cause) {
      throw levelError(cause);
    }
    return key;
  }

  #range({ gt, gte, lt, lte }: LevelRange): KeyRange {
    const toBound = (bytes?: Uint8Array) => bytes && this.#key(bytes);
    return buildKeyRange({
      prefix: this.#prefix,
      ...(gte ? { gte: toBound(gte) } : { gt: toBound(gt) }),
      ...(lte ? { lte: toBound(lte) } : { lt: toBound(lt) }),
    });
  }

  _get(key: Uint8Array, options: LevelReadOptions): Promise<Uint8Array | undefined> {
    return asLevel(async () => {
      const value = await this.#reader(options).get(this.#key(key));
      return value === undefined ? undefined : bytesOf(value);
    });
  }

  _getMany(keys: Uint8Array[], options: LevelReadOptions): Promise<(Uint8Array | undefined)[]> {
    return asLevel(async () => {
      const values = await this.#reader(options).getMany(keys.map((key) => this.#key(key)));
      return values.map((value) => (value === undefined ? undefined : bytesOf(value)));
    });
  }

  _has(key: Uint8Array, options: LevelReadOptions): Promise<boolean> {
    return asLevel(async () => this.#reader(options).has(this.#key(key)));
  }

  _hasMany(keys: Uint8Array[], options: LevelReadOptions): Promise<boolean[]> {
    return Promise.all(keys.map((key) => this._has(key, options)));
  }

  _put(key: Uint8Array, value: Uint8Array): Promise<void> {
    return asLevel(async () => this.#store.put(this.#key(key), value));
  }

  _del(key: Uint8Array): Promise<void> {
    return asLevel(async () => this.#store.delete(this.#key(key)));
  }

  /** Applies all operations in one commit. */
  _batch(operations: Operation[]): Promise<void> {
    return asLevel(async () => {
      const patch = operations.map(
        ({ type, key, value }): PatchOperation =>
          type === 'put'
            ? { op: 'put', key: this.#key(key), value }
            : { op: 'delete', key: this.#key(key) },
      );
      await this.#store.applyPatch(patch);
    });
  }

  _clear(range: LevelRange): Promise<void> {
    return asLevel(async () => {
      const { reverse, limit, snapshot } = range;
      const keys = this.#range(range);
      const isWhole = limit < 0 && !snapshot;
      const reader = this.#reader(range);
      const scanMatches = () =>
        reader.scan({ ...keys, reverse, limit: limit < 0 ? Number.POSITIVE_INFINITY : limit });
      if (isWhole) await clearKeyRange(this.#store, keys);
      else await this.#store.deleteMany(await scanMatches().keys().toArray());
    });
  }

  _iterator(options: AbstractIteratorOptions<Key, Value> & LevelRange) {
    const { reverse, signal, values } = options;
    const own = options.snapshot ? undefined : this.#store.snapshot();
    const reader = own ?? this.#reader(options);
    const keyOf = (bytes: Uint8Array) => this.#key(bytes);
    const range = this.#range(options);
    const { length } = this.#prefix;
    const entries = (from: KeyRange, limit: number) => {
      const scan = reader.scan({ ...from, reverse, limit, signal: signal ?? undefined });
      return (values ? scan : scan.keys())[Symbol.asyncIterator]() as AsyncIterator<unknown>;
    };
    return new LevelIterator<Key, Value>(this, options, {
      rows: (limit) => entries(range, limit),
      from: (target, limit) => entries(begunAt(range, keyOf(target), reverse), limit),
      entryOf: (row) => {
        const [key, value] = values ? (row as [string, unknown]) : [row as string];
        const bytes = new Uint8Array(key.length - length);
        for (let at = 0; at < bytes.length; at++) bytes[at] = key.charCodeAt(length + at);
        return [bytes, values ? bytesOf(value) : undefined];
      },
      release: () => own?.close(),
    });
  }

  _snapshot(options: object): LevelSnapshot {
    return new LevelSnapshot(options, this.#store.snapshot());
  }
}

/** Returns the part of a range that an iterator reads after `seek`: an empty range if the target is outside. */
function begunAt(range: KeyRange, key: string, reverse: boolean): KeyRange {
  const { prefix, gt, gte, lt, lte } = range;
  if (!isInRange(key, range)) return buildKeyRange({ prefix, gt: key, lt: key });
  return buildKeyRange(reverse ? { prefix, gt, gte, lte: key } : { prefix, gte: key, lt, lte });
}

type Entry = [key: Uint8Array, value: Uint8Array | undefined];

interface Walk {
  rows(limit: number): AsyncIterator<unknown>;
  from(target: Uint8Array, limit: number): AsyncIterator<unknown>;
  entryOf(row: unknown): Entry;
  release(): void;
}

class LevelIterator<Key, Value> extends AbstractIterator<HedgerowLevel<Key, Value>, Key, Value> {
  readonly #walk: Walk;
  #rows: AsyncIterator<unknown> | undefined;

  constructor(
    db: HedgerowLevel<Key, Value>,
    options: AbstractIteratorOptions<Key, Value>,
    walk: Walk,
  ) {
    super(db, options);
    this.#walk = walk;
  }

  async _next(): Promise<Entry | undefined> {
    return (await this._nextv(1))[0];
  }

  _nextv(size: number): Promise<Entry[]> {
    this.#rows ??= this.#walk.rows(this.limit);
    const rows = this.#rows;
    return asLevel(async () => {
      const entries: Entry[] = [];
      while (entries.length < size) {
        const { done, value } = await rows.next();
        if (done) break;
        entries.push(this.#walk.entryOf(value));
      }
      return entries;
    });
  }

  _seek(target: Uint8Array): void {
    this.#rows?.return?.();
    this.#rows = this.#walk.from(target, this.limit - this.count);
  }

  async _close(): Promise<void> {
    await this.#rows?.return?.();
    this.#walk.release();
  }
}
