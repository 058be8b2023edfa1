/** The migrations of the tables of an open store: one for each table and handle. */

import { notify } from '../../../base/call-callback-safely.js';
import { buildKeyRange } from '../../../base/range.js';
import type { BranchHead } from '../../../engine/history/branch-head.js';
import type { Change } from '../../../engine/read/decode-diff.js';
import type { Store } from '../../store.js';
import { type Row, type Spec, VERSION } from '../spec.js';
import type { StoreReads } from '../table-context.js';
import { bringAllForward, type MigrationTrial, tryForward } from './migrate-rows-in-batches.js';
import { ReadyReads } from './migrated-commit-reads.js';
import type { MigrationCalls } from './migration-calls.js';
import { Migrator, type Wait } from './migrator.js';
import { countOld } from './old-rows.js';
import { areRefused, notReady } from './readiness.js';

export { bringRow } from './migrate-row.js';

/** The migrations of the tables of an open store. */
export class Migrations {
  readonly #specs: readonly Spec[];
  readonly #calls: MigrationCalls;
  /** By handle: the branch head of a store, and the `Run` of a transaction. */
  readonly inner = new WeakMap<object, unknown>();
  readonly #migrators = new WeakMap<object, Map<Spec, Migrator>>();
  /** Snapshots that need not wait. */
  readonly #ready = new WeakMap<object, Set<Spec>>();
  #isOutdated = false;

  constructor(specs: readonly Spec[], calls: MigrationCalls) {
    this.#specs = specs;
    this.#calls = calls;
    for (const spec of specs) spec.onNewer = (version) => this.#reportOutdated(spec, version);
  }

  /** Begins the migrations of a handle that was opened. */
  begin(db: Store): void {
    (this.inner.get(db) as BranchHead).shared.host.bringForward = async (run) => {
      for (const spec of this.#specs) if (spec.version > 1) await bringAllForward(run, spec);
    };
    for (const spec of this.#specs) {
      if (spec.version > 1) this.of(db, spec);
      if (this.#calls.onOutdated !== undefined) this.#lookOut(db, spec);
    }
  }

  /** Returns the migration of a table by a handle. */
  of(db: Store, spec: Spec): Migrator {
    let all = this.#migrators.get(db);
    if (all === undefined) {
      all = new Map();
      this.#migrators.set(db, all);
    }
    let migrator = all.get(spec);
    if (migrator === undefined) {
      migrator = new Migrator(db, spec, this.inner, this.#calls.onMigration);
      all.set(spec, migrator);
      migrator.begin();
    }
    return migrator;
  }

  /** Returns the reads of a table whose rows have versions. */
  readsOf(db: Store, spec: Spec): StoreReads {
    return new ReadyReads(db, spec, this.of(db, spec));
  }

  /** Resolves when the indexes of a table list its rows by their newest form; returns `undefined` if they do. */
  whenReady(db: Store, spec: Spec, options: Wait = {}): Promise<void> | undefined {
    const migrator = this.of(db, spec);
    if (migrator.isReady) return undefined;
    return migrator.ready(options).then((snapshot) => snapshot.close());
  }

  /** Returns which old rows would fail; does not write. */
  async trial(db: Store, spec: Spec, signal: AbortSignal | undefined): Promise<MigrationTrial> {
    // Also waits for own edits, and for the index.
    await countOld(db as unknown as StoreReads, spec, { signal });
    const snapshot = db.snapshot();
    try {
      return await tryForward(snapshot as unknown as StoreReads, spec, signal);
    } finally {
      snapshot.close();
    }
  }

  /** Rejects with `not-ready` if a snapshot, or a transaction, has rows of a lower version that are not refused. */
  async checkReady(spec: Spec, at: StoreReads): Promise<void> {
    if (spec.version === 1 || this.#ready.get(at)?.has(spec)) return;
    if (!(await areRefused(at, spec))) throw notReady(spec);
    // A transaction may put old rows itself.
    if ('put' in at) return;
    this.#ready.set(at, (this.#ready.get(at) ?? new Set()).add(spec));
  }

  #reportOutdated(spec: Spec, version: number): void {
    const { onOutdated } = this.#calls;
    if (this.#isOutdated || onOutdated === undefined) return;
    this.#isOutdated = true;
    queueMicrotask(() => notify(onOutdated, { table: spec.name, version }));
  }

  /** Watches the writes of other tabs. */
  #lookOut(db: Store, spec: Spec): void {
    const look = (changes: readonly Change[]) => {
      for (const change of changes) {
        const version = change.op === 'delete' ? 0 : (change.newValue as Row | null)?.[VERSION];
        if ((version as number) > spec.version)
          return this.#reportOutdated(spec, version as number);
      }
    };
    // A closed store reports no more changes.
    db.watch(buildKeyRange({ prefix: spec.prefix }), look, { onError: () => {} });
  }
}
