/** A provider of Yjs: documents in a store, which its tabs share. */

import type { Change, Store } from 'hedgerow';
import {
  anything,
  checkHas,
  checkKey,
  checkNumber,
  durabilityCheck,
  HedgerowError,
  notify,
  type OptionsOf,
  optionsOf,
  report,
  shownAs,
} from 'hedgerow/kit';
import {
  applyUpdate,
  type Doc,
  diffUpdate,
  encodeStateAsUpdate,
  encodeStateVectorFromUpdate,
  mergeUpdates,
  transact,
} from 'yjs';
import { checkedPrefix, openedOnce, type StoreSource } from './check-adapter-arguments.js';
import { UpdateRows } from './yjs-rows.js';

const YJS_OPTIONS = {
  /** The prefix of the keys of all documents; `'yjs/'` by default. */
  prefix: anything<string>(),
  /** The durability of writes, instead of the store's. */
  durability: durabilityCheck,
  /** Rows of the document are merged when there are so many; 500 by default. */
  maxRows: anything<number>(),
  /** They are also merged when all but the largest have so many bytes, and as many as the largest; 1 MiB by default. */
  maxBytes: anything<number>(),
};

/** Options of `HedgerowProvider`. */
export interface YjsOptions extends OptionsOf<typeof YJS_OPTIONS> {}

/** The events of a provider. */
export interface YjsEvents {
  /** All stored updates are in the document. */
  synced: (provider: HedgerowProvider) => void;
  /**
   * Updates could not be stored, or updates of other tabs do not come any more. Without a listener, the error is
   * reported.
   */
  error: (cause: unknown) => void;
}

/** Whether an update has no content. */
const isEmpty = (update: Uint8Array) => update.length === 2 && update[0] === 0 && update[1] === 0;

/**
 * A provider that keeps a document in a store, and up to date with other tabs. It neither opens nor closes the store,
 * which may have any number of documents, and other rows.
 */
export class HedgerowProvider {
  readonly doc: Doc;
  readonly name: string;
  /** Whether all stored updates are in the document. */
  synced = false;
  /** Resolves when `synced` is true. Rejects when the store cannot be read, or the provider is destroyed earlier. */
  readonly whenSynced: Promise<this>;
  readonly #opened: () => Promise<Store>;
  readonly #base: string;
  readonly #rows: UpdateRows;
  readonly #listeners = { synced: new Set<unknown>(), error: new Set<unknown>() };
  /** The earlier content of the document, until the part that is stored is known. */
  #had: Uint8Array | undefined;
  #isSynced: (provider: this) => void = () => {};
  #isLost: (cause: unknown) => void = () => {};
  #stop: (() => void) | undefined;
  #ending: Promise<void> | undefined;

  constructor(store: StoreSource, name: string, doc: Doc, options: YjsOptions = {}) {
    const call = 'HedgerowProvider';
    const own = optionsOf(call, options, YJS_OPTIONS);
    const { prefix = 'yjs/', durability, maxRows = 500, maxBytes = 1 << 20 } = own;
    checkNumber(`${call}: maxRows`, maxRows);
    checkNumber(`${call}: maxBytes`, maxBytes);
    checkKey(name, `${call}: name`);
    checkHas(call, doc, 'on off transact', 'a Y.Doc');
    this.#opened = openedOnce(call, store);
    // The name is encoded, so that no name begins like the keys of another document.
    this.#base = `${checkedPrefix(call, prefix)}${encodeURIComponent(name)}/`;
    checkKey(`${this.#base}${'x'.repeat(64)}`, `${call}: name`);
    this.doc = doc;
    this.name = name;
    this.whenSynced = new Promise<this>((resolve, reject) => {
      this.#isSynced = resolve;
      this.#isLost = reject;
    });
    // Apps need not wait for it: events report failures.
    this.whenSynced.catch(() => {});
    const how = { durability, maxRows: Math.max(2, maxRows), maxBytes };
    const state = () => encodeStateAsUpdate(doc);
    this.#rows = new UpdateRows(this.#opened, `${this.#base}u/`, how, state, (cause) =>
      this.#fail(cause),
    );
    this.#had = state();
    doc.on('update', this.#onUpdate);
    doc.on('destroy', this.#onDestroy);
    void this.#follow();
  }

  on<Name extends keyof YjsEvents>(name: Name, listener: YjsEvents[Name]): this {
    this.#of(name).add(listener);
    return this;
  }

  off<Name extends keyof YjsEvents>(name: Name, listener: YjsEvents[Name]): this {
    this.#of(name).delete(listener);
    return this;
  }

  #of(name: keyof YjsEvents): Set<unknown> {
    if (name === 'synced' || name === 'error') return this.#listeners[name];
    const message = `HedgerowProvider tells of synced and error, not of ${shownAs(name)}`;
    throw new HedgerowError('invalid-argument', message);
  }

  /** The number of this tab's updates that are not stored yet. */
  get pending(): number {
    return this.#rows.pending;
  }

  /** Resolves when all changes of this tab are stored. Tries failed writes again. */
  flush(): Promise<void> {
    return this.#rows.flush();
  }

  /** Reads the value of a key, next to the document. */
  async get<Value = unknown>(key: string | number): Promise<Value | undefined> {
    return (await this.#opened()).get<Value>(this.#customKey(key));
  }

  /** Keeps a value, as a store does, next to the document. Resolves to it. */
  async set<Value>(key: string | number, value: Value): Promise<Value> {
    await (await this.#opened()).put(this.#customKey(key), value);
    return value;
  }

  async del(key: string | number): Promise<void> {
    await (await this.#opened()).delete(this.#customKey(key));
  }

  /** Ends the provider, once all changes of this tab are stored. Called when the document is destroyed. */
  destroy(): Promise<void> {
    this.#ending ??= this.#end(true);
    return this.#ending;
  }

  /** Ends the provider, and deletes all stored rows of the document. Other tabs that have it open store it again. */
  async clearData(): Promise<void> {
    this.#ending ??= this.#end(false);
    await this.#ending.catch(() => {});
    await (await this.#opened()).deleteMany({ prefix: this.#base });
  }

  readonly #onUpdate = (update: Uint8Array, origin: unknown): void => {
    if (origin === this) return;
    // The update may build on the earlier content, and may be the last that this tab stores.
    this.#addHad();
    this.#rows.add(update);
  };

  readonly #onDestroy = (): void => {
    this.destroy().catch(() => {});
  };

  async #end(wanted: boolean): Promise<void> {
    this.doc.off('update', this.#onUpdate);
    this.doc.off('destroy', this.#onDestroy);
    this.#stop?.();
    this.#isLost(new HedgerowError('closed', 'the provider was destroyed'));
    await this.#rows.end(wanted);
  }

  #customKey(key: string | number): string {
    const isKey = typeof key === 'string' || Number.isFinite(key);
    if (isKey) return `${this.#base}c/${JSON.stringify(key)}`;
    throw new HedgerowError('invalid-argument', 'a key must be a string or a number');
  }

  async #follow(): Promise<void> {
    try {
      const db = await this.#opened();
      if (this.#ending !== undefined) return;
      const range = { prefix: this.#rows.prefix };
      const onError = (cause: unknown) => this.#lose(cause);
      this.#stop = db.watch<Uint8Array>(range, (changes) => this.#take(changes), {
        initial: true,
        onError,
      });
    } catch (cause) {
      this.#lose(cause);
    }
  }

  #lose(cause: unknown): void {
    this.#isLost(cause);
    if (this.#ending === undefined) this.#fail(cause);
  }

  #take(changes: readonly Change<Uint8Array>[]): void {
    if (this.#ending !== undefined) return;
    const theirs = this.#rows.see(changes);
    const updates: Uint8Array[] = [];
    const faults: HedgerowError[] = [];
    const apply = () => {
      for (const [key, update] of theirs) {
        try {
          applyUpdate(this.doc, update, this);
          this.#rows.took(key, update);
          updates.push(update);
        } catch (cause) {
          const message = `the row ${key} is no update of Yjs`;
          faults.push(new HedgerowError('invalid-argument/value', message, { cause, key }));
        }
      }
    };
    // One transaction, which is not local. It throws errors of the app's observers.
    if (theirs.length > 0) notify(() => transact(this.doc, apply, this, false), undefined);
    if (!this.synced) this.#sync(updates);
    this.#rows.compactIfDue();
    for (const fault of faults) this.#fail(fault);
  }

  #sync(updates: Uint8Array[]): void {
    if (this.#had !== undefined && updates.length > 0) {
      this.#had = diffUpdate(this.#had, encodeStateVectorFromUpdate(mergeUpdates(updates)));
    }
    this.#addHad();
    this.synced = true;
    this.#isSynced(this);
    this.doc.emit('load', [this.doc]);
    this.#tell('synced', this);
  }

  #addHad(): void {
    if (this.#had !== undefined && !isEmpty(this.#had)) this.#rows.add(this.#had);
    this.#had = undefined;
  }

  #fail(cause: unknown): void {
    if (this.#listeners.error.size === 0) report(cause);
    this.#tell('error', cause);
  }

  #tell(name: keyof YjsEvents, value: unknown): void {
    for (const listener of this.#listeners[name])
      notify(listener as (value: unknown) => void, value);
  }
}
