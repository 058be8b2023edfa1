/** Puts tables on the handles of a store: itself, its branches, snapshots and transactions. */

import { optionsOf, plain } from '../../base/check-options.js';
import { HedgerowError } from '../../base/errors.js';
import { isPlain, kindOf, shownAs } from '../../base/runtime-type-checks.js';
import type { IndexDefinitions } from '../../core/indexes/index-set.js';
import type { Run, Transaction } from '../../engine/transaction/transaction.js';
import type { Snapshot } from '../snapshot.js';
import type { Store } from '../store.js';
import { namedError, throwTableError } from './errors.js';
import type { Migrations } from './migrate/migration-registry.js';
import { Spec, type TableModules } from './spec.js';
import { StoreTable } from './store-table.js';
import type { StoreReads } from './table-context.js';
import { TableReads } from './table-reads.js';
import { TxTable } from './tx-table.js';

/** A handle that gets tables. */
export type Handle = Store | Snapshot | Transaction;

const INDEXES = { indexes: plain<IndexDefinitions>() };

/** The checked definitions of tables. */
export class TableSet {
  readonly specs: readonly Spec[];
  /** Why a handle could not get a table. */
  fault: unknown;

  constructor(tables: unknown, ways: TableModules) {
    if (!isPlain(tables)) {
      const message = `open: tables must be a plain object, not ${kindOf(tables)}`;
      throw new HedgerowError('invalid-argument', message);
    }
    this.specs = Object.entries(tables).map(([name, table]) => {
      const definition = (table as { definition?: unknown } | undefined)?.definition;
      if (!isPlain(definition)) throwTableError(name, 'a table is what table() returns');
      // `table` finds tables by their names. A handle with `then` could be taken for a promise.
      if (/^(|then|table)$/.test(name)) throwTableError(name, 'this is no name for a table');
      try {
        return new Spec(name, definition, ways);
      } catch (cause) {
        throw namedError(cause, name);
      }
    });
    for (const one of this.specs) {
      const other = this.specs.find((spec) => spec !== one && one.prefix.startsWith(spec.prefix));
      if (other !== undefined) {
        const message = `its prefix ${JSON.stringify(one.prefix)} is under that of ${other.name}`;
        throwTableError(one.name, message);
      }
    }
  }

  /** Returns the indexes of all tables, together with the other indexes of the store. */
  indexes(others: IndexDefinitions = {}): IndexDefinitions {
    const { indexes } = optionsOf('open', { indexes: others }, INDEXES);
    const all: Record<string, IndexDefinitions[string]> = { ...indexes };
    for (const spec of this.specs) {
      for (const [name, definition] of Object.entries(spec.definitions())) {
        if (Object.hasOwn(all, name))
          throwTableError(
            spec.name,
            `there is an index ${name} already, as this table would have one`,
          );
        all[name] = definition;
      }
    }
    return all;
  }

  #tableOf(handle: Store, name: unknown): unknown {
    if (this.specs.some((spec) => spec.name === name)) return handle[name as keyof Store];
    throw new HedgerowError('invalid-argument', `there is no table ${shownAs(name)}`);
  }

  /** Puts the tables on a handle. */
  attach(handle: Handle, migrations: Migrations | undefined, inner: unknown): void {
    if ('snapshot' in handle) {
      // After the constructor of the handle has ended.
      if (migrations !== undefined) queueMicrotask(() => migrations.begin(handle));
      const table = (name: unknown) => this.#tableOf(handle, name);
      Object.defineProperty(handle, 'table', { value: table });
    }
    for (const spec of this.specs) {
      if (spec.name in handle) {
        const message = `${spec.name}: this is no name for a table: handles have a member of it`;
        this.fault ??= new HedgerowError('invalid-argument', message, { table: spec.name });
        continue;
      }
      Object.defineProperty(handle, spec.name, {
        configurable: true,
        enumerable: true,
        // A transaction makes only the tables that it uses.
        get: () => {
          const value = tableOf(handle, spec, migrations, inner);
          Object.defineProperty(handle, spec.name, { value, enumerable: true });
          return value;
        },
      });
    }
  }
}

function tableOf(
  handle: Handle,
  spec: Spec,
  migrations: Migrations | undefined,
  inner: unknown,
): TableReads {
  const now = async (at: StoreReads) => migrations?.checkReady(spec, at);
  if ('snapshot' in handle) {
    return new StoreTable(handle, spec, migrations);
  }
  if ('put' in handle) return new TxTable(handle, spec, now, (inner as Run).calls);
  const at = handle as unknown as StoreReads;
  return new TableReads({ spec, at, whenReady: () => now(at) });
}
