/**
 * The module that the contracts of the persistence package import as its source: the published package, with our
 * adapter in the place of the SQLite adapter. The contracts read tables of SQLite by a few queries, which get their
 * answers from the store.
 */
import { memory, open, type Store } from '../../../hedgerow/src/index.js';
import { loadStructured } from '../../../hedgerow/src/store/tables/on-demand-table-code.js';
import type { HedgerowPersistenceAdapter } from '../../src/index.js';
import { Adapter } from '../../src/persistence-adapter.js';

export {
  createPersistedTableName,
  persistedCollectionOptions,
} from '@tanstack/db-sqlite-persistence-core';

export interface ContractOptions {
  driver: ContractDriver;
  schemaVersion?: number;
  schemaMismatchPolicy?: string;
  appliedTxPruneMaxRows?: number;
  pullSinceReloadThreshold?: number;
}

const PREFIX = 'tanstack-db/';

/** The adapter that contracts make. It opens the store at the first call, as a driver opens its database. */
export class SQLiteCorePersistenceAdapter {
  readonly #options: ContractOptions;
  #made: Promise<Adapter> | undefined;

  constructor(options: ContractOptions) {
    this.#options = options;
  }

  async #make(): Promise<Adapter> {
    const { driver, schemaVersion: schema = 1, schemaMismatchPolicy = '' } = this.#options;
    const { appliedTxPruneMaxRows: kept = 1_000, pullSinceReloadThreshold: mostTold } =
      this.#options;
    const onOther = schemaMismatchPolicy.endsWith('reset') ? 'reset' : 'error';
    const told = mostTold === undefined ? {} : { mostTold };
    return new Adapter(await driver.opened(), { prefix: PREFIX, schema, onOther, kept, ...told });
  }

  #call<Name extends keyof HedgerowPersistenceAdapter>(name: Name) {
    return async (...given: unknown[]) => {
      this.#made ??= this.#make();
      const adapter = await this.#made;
      return (adapter[name] as (...given: unknown[]) => unknown).apply(adapter, given);
    };
  }

  readonly loadSubset = this.#call('loadSubset');
  readonly applyCommittedTx = this.#call('applyCommittedTx');
  readonly loadCollectionMetadata = this.#call('loadCollectionMetadata');
  readonly scanRows = this.#call('scanRows');
  readonly ensureIndex = this.#call('ensureIndex');
  readonly markIndexRemoved = this.#call('markIndexRemoved');
  readonly getStreamPosition = this.#call('getStreamPosition');
  readonly pullSince = this.#call('pullSince');
}

let count = 0;

/** Answers the queries by which the contracts read tables. */
export class ContractDriver {
  #opened: Promise<Store> | undefined;
  readonly #storage = memory();
  readonly #name = `contract-${count++}`;

  opened(): Promise<Store> {
    this.#opened ??= open(this.#name, { storage: this.#storage });
    return this.#opened;
  }

  async close(): Promise<void> {
    await (await this.#opened)?.close();
  }

  async query(sql: string, given: readonly unknown[] = []): Promise<readonly object[]> {
    const db = await this.opened();
    const { STRUCTURED_ROWS: form } = await loadStructured();
    const [id = ''] = given as string[];
    const all = `${PREFIX}${encodeURIComponent(id)}/`;
    const under = (prefix: string) => db.scan({ prefix }).values().toArray();
    const text = sql.replace(/\s+/g, ' ');
    if (/COUNT\(\*\) AS count FROM applied_tx/.test(text)) {
      return [{ count: await db.count({ prefix: `${all}t/` }) }];
    }
    if (/SELECT seq FROM applied_tx/.test(text)) {
      return (await under(`${all}t/`)).map((one) => ({ seq: form.decode(one).seq }));
    }
    if (/SELECT key FROM collection_metadata/.test(text)) {
      return (await under(`${all}c/`)).map((one) => ({ key: form.decode(one).key }));
    }
    throw new Error(`this asks for what only SQLite has: ${text}`);
  }

  async run(sql: string): Promise<void> {
    throw new Error(`this asks for what only SQLite has: ${sql}`);
  }

  exec = this.run;
}
