/** The common calls of all contestants, so that all cases are written once. */
import type { Contestant } from '../bench-case.js';
import type { Row } from '../rows.js';

/** Rows whose keys begin with `prefix`, or follow `from` (itself included); at most `limit`. */
export interface Limits {
  readonly prefix?: string;
  readonly from?: string;
  readonly limit?: number;
}

/** An open database. */
export interface Database {
  /** Puts many rows in the peer's best way; may return further figures. */
  load(rows: readonly Row[]): Promise<Readonly<Record<string, number>> | undefined>;
  /** Resolves when the loaded rows are stored, where `load` resolves before. */
  persisted?(): Promise<void>;
  remove(ids: readonly string[]): Promise<unknown>;
  put(row: Row): PromiseLike<unknown>;
  get(id: string): PromiseLike<unknown>;
  getMany(ids: string[]): PromiseLike<readonly unknown[]>;
  scan(limits: Limits): PromiseLike<readonly unknown[]>;
  /** Returns the row with a number, from 0, in the order of keys. */
  at?(n: number): PromiseLike<unknown>;
  /** Counts the rows before a key. */
  rank?(id: string): PromiseLike<number>;
  /** Calls back after each change of a row, until the returned function is called. */
  watch?(id: string, changed: (row: unknown) => void): Promise<() => void>;
  close(): Promise<unknown>;
}

export interface OpenSetting {
  readonly durability: 'relaxed' | 'strict';
}

/** A way to keep rows. Its code is loaded only when it is opened. */
export interface Peer extends Pick<Contestant, 'name' | 'note' | 'cannot' | 'most'> {
  readonly kind: 'ours' | 'variant' | 'peer';
  /** Whether rows are gone with the page. */
  readonly inMemory: boolean;
  open(setting: OpenSetting): Promise<Database>;
  /** Names what the peer needs and this browser lacks. */
  missing?(): string | undefined;
}

/** The names of the stores and databases that run in a visitor's browser, to delete them. */
export const NAMES = { hedgerow: 'bench', dexie: 'bench-dexie', indexedDb: 'bench-raw' } as const;

export const RELAXED: OpenSetting = { durability: 'relaxed' };
export const STRICT: OpenSetting = { durability: 'strict' };

/** Opens the database, and closes it after use. */
export async function within<T>(
  peer: Peer,
  setting: OpenSetting,
  use: (db: Database) => Promise<T>,
): Promise<T> {
  const db = await peer.open(setting);
  try {
    return await use(db);
  } finally {
    await db.close();
  }
}
