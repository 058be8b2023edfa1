/** The objects of the hostile IndexedDB that a page sees: requests, transactions, object stores, databases. */
import { copyOf, type Key, type Query, Records } from './records.js';

/** The part of an event that listeners look at. */
export class HostileEvent {
  readonly type: string;
  readonly target: Target;
  isStopped = false;
  defaultPrevented = false;
  newVersion: number | null = null;
  oldVersion = 0;

  constructor(type: string, target: Target) {
    this.type = type;
    this.target = target;
  }

  stopPropagation(): void {
    this.isStopped = true;
  }

  preventDefault(): void {
    this.defaultPrevented = true;
  }
}

type Listener = (event: HostileEvent) => void;

/** An event target whose handlers `on...` are found by their names. */
export class Target {
  readonly #listeners = new Map<string, Set<Listener>>();

  addEventListener(type: string, listener: Listener): void {
    const listeners = this.#listeners.get(type) ?? new Set();
    this.#listeners.set(type, listeners.add(listener));
  }

  removeEventListener(type: string, listener: Listener): void {
    this.#listeners.get(type)?.delete(listener);
  }

  /** Calls the handlers of this target, then of those in `path`, until one stops it. */
  dispatch(event: HostileEvent, path: readonly Target[] = []): HostileEvent {
    for (const target of [this, ...path]) {
      const own = (target as unknown as Record<string, unknown>)[`on${event.type}`];
      if (typeof own === 'function') own.call(target, event);
      for (const listener of [...(target.#listeners.get(event.type) ?? [])]) listener(event);
      if (event.isStopped) break;
    }
    return event;
  }
}

export class HostileRequest extends Target {
  onsuccess: Listener | null = null;
  onerror: Listener | null = null;
  transaction: HostileTransaction | null = null;
  isDone = false;
  error: DOMException | null = null;
  #result: unknown;

  get result(): unknown {
    if (!this.isDone) throw new DOMException('not done', 'InvalidStateError');
    return this.#result;
  }

  set result(value: unknown) {
    this.isDone = true;
    this.#result = value;
  }
}

export class HostileOpenRequest extends HostileRequest {
  onupgradeneeded: Listener | null = null;
  onblocked: Listener | null = null;
}

/** A request as the engine has it. */
export interface Operation {
  readonly request: HostileRequest;
  readonly store: string;
  /** A write may need room. */
  readonly writes: 'put' | 'delete' | undefined;
  run(records: Records): unknown;
}

/** The engine, as the objects call it. */
export interface Backend {
  begin(transaction: HostileTransaction): void;
  /** Called when the engine has work to do. */
  wake(): void;
  /** Called before a request is taken. */
  check(): void;
  abort(transaction: HostileTransaction): void;
  closed(database: HostileDatabase): void;
}

export type Mode = 'readonly' | 'readwrite' | 'versionchange';

export class HostileTransaction extends Target {
  oncomplete: Listener | null = null;
  onabort: Listener | null = null;
  onerror: Listener | null = null;
  readonly db: HostileDatabase;
  readonly scope: readonly string[];
  readonly mode: Mode;
  readonly durability: string;
  error: DOMException | null = null;
  /** It takes no more requests. */
  isFinished = false;
  isCommitAsked = false;
  /** Whether it accepts deletions only: Firefox does so after a quota error. */
  readonly isCleanup: boolean;
  /** Made and not yet executed; executed and not yet answered. */
  readonly operations: Operation[] = [];
  readonly answers: { request: HostileRequest; result?: unknown; error?: DOMException }[] = [];

  constructor(
    db: HostileDatabase,
    scope: readonly string[],
    mode: Mode,
    durability: string,
    isCleanup: boolean,
  ) {
    super();
    this.db = db;
    this.scope = scope;
    this.mode = mode;
    this.durability = durability;
    this.isCleanup = isCleanup;
  }

  get objectStoreNames(): readonly string[] {
    return this.scope;
  }

  objectStore(name: string): HostileStore {
    if (this.isFinished) throw new DOMException('it is over', 'InvalidStateError');
    return new HostileStore(this, name);
  }

  request(store: string, run: Operation['run'], writes?: Operation['writes']): HostileRequest {
    this.db.backend.check();
    if (this.isFinished || this.isCommitAsked) {
      throw new DOMException('it is over', 'TransactionInactiveError');
    }
    if (writes !== undefined && this.mode === 'readonly') {
      throw new DOMException('only reads', 'ReadOnlyError');
    }
    if (writes === 'put' && this.isCleanup) {
      throw new DOMException('A mutation operation was attempted', 'InvalidStateError');
    }
    const request = new HostileRequest();
    request.transaction = this;
    this.operations.push({ request, store, run, writes });
    this.db.backend.wake();
    return request;
  }

  commit(): void {
    if (this.isFinished || this.isCommitAsked) {
      throw new DOMException('it is over', 'InvalidStateError');
    }
    this.isCommitAsked = true;
    this.db.backend.wake();
  }

  abort(): void {
    if (this.isFinished || this.isCommitAsked) {
      throw new DOMException('it is over', 'InvalidStateError');
    }
    this.db.backend.abort(this);
  }
}

export class HostileStore {
  readonly transaction: HostileTransaction;
  readonly name: string;

  constructor(transaction: HostileTransaction, name: string) {
    this.transaction = transaction;
    this.name = name;
  }

  #read(run: Operation['run']): HostileRequest {
    return this.transaction.request(this.name, run);
  }

  get(query: Query): HostileRequest {
    return this.#read((records) => copyOf(records.select(query)[0]?.value));
  }

  getAll(query?: Query, count?: number): HostileRequest {
    return this.#read((records) =>
      records
        .select(query)
        .slice(0, count)
        .map(({ value }) => copyOf(value)),
    );
  }

  getAllKeys(query?: Query, count?: number): HostileRequest {
    return this.#read((records) =>
      records
        .select(query)
        .slice(0, count)
        .map(({ key }) => key),
    );
  }

  count(query?: Query): HostileRequest {
    return this.#read((records) => records.select(query).length);
  }

  put(value: unknown, key: Key): HostileRequest {
    const own = copyOf(value);
    const run = (records: Records) => {
      records.put(key, own);
      return key;
    };
    return this.transaction.request(this.name, run, 'put');
  }

  delete(query: Query): HostileRequest {
    const run = (records: Records) => records.delete(query);
    return this.transaction.request(this.name, run, 'delete');
  }

  clear(): HostileRequest {
    return this.transaction.request(this.name, (records) => records.delete(undefined), 'delete');
  }

  /** Walks over the records of the time of the request; no write of these transactions changes them. */
  openCursor(query?: Query, direction = 'next'): HostileRequest {
    const request = this.#read((records) => {
      const found = records.select(query);
      if (direction === 'prev') found.reverse();
      const step = (at: number): HostileCursor | null => {
        const record = found[at];
        if (record === undefined) return null;
        const next = () => {
          const { operations, db } = this.transaction;
          operations.push({
            request,
            store: this.name,
            writes: undefined,
            run: () => step(at + 1),
          });
          db.backend.wake();
        };
        return new HostileCursor(record.key, copyOf(record.value), next);
      };
      return step(0);
    });
    return request;
  }
}

export class HostileCursor {
  readonly key: Key;
  readonly value: unknown;
  readonly #next: () => void;

  constructor(key: Key, value: unknown, next: () => void) {
    this.key = key;
    this.value = value;
    this.#next = next;
  }

  advance(): void {}
  continuePrimaryKey(): void {}

  continue(): void {
    this.#next();
  }
}

export class HostileIndex {}

export class HostileDatabase extends Target {
  onversionchange: Listener | null = null;
  onclose: Listener | null = null;
  onerror: Listener | null = null;
  onabort: Listener | null = null;
  readonly name: string;
  readonly version = 1;
  readonly backend: Backend;
  readonly stores: Map<string, Records>;
  isClosed = false;
  /** The next transaction that writes may only delete. */
  isCleanupDue = false;

  constructor(name: string, backend: Backend, stores: Map<string, Records>) {
    super();
    this.name = name;
    this.backend = backend;
    this.stores = stores;
  }

  get objectStoreNames(): readonly string[] {
    return [...this.stores.keys()];
  }

  createObjectStore(name: string): void {
    this.stores.set(name, new Records());
  }

  transaction(
    scope: string | readonly string[],
    mode: Mode = 'readonly',
    { durability = 'default' }: { durability?: string } = {},
  ): HostileTransaction {
    if (this.isClosed) throw new DOMException('it is closed', 'InvalidStateError');
    const names = typeof scope === 'string' ? [scope] : [...scope];
    for (const name of names) {
      if (!this.stores.has(name)) throw new DOMException(name, 'NotFoundError');
    }
    const isCleanup = mode === 'readwrite' && this.isCleanupDue;
    if (isCleanup) this.isCleanupDue = false;
    const transaction = new HostileTransaction(this, names, mode, durability, isCleanup);
    this.backend.begin(transaction);
    return transaction;
  }

  close(): void {
    this.isClosed = true;
    this.backend.closed(this);
  }
}
