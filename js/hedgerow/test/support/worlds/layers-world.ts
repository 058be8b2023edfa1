/**
 * The app of the simulation of all layers: a table in two versions, its mutators on the client and at the server, and
 * tabs.
 */

import { expect } from 'vitest';
import { open, type RowChange, rowType, type Store, table } from '../../../src/index.js';
import { type Live, type LiveCount, live, liveCount } from '../../../src/live/index.js';
import { type MutatorConnection, mutators } from '../../../src/sync/mutators/index.js';
import { kindOf } from '../error-kind.js';
import type { Random } from '../random.js';
import { type Disk, type Network, tryWork } from './mutators-world.js';
import { takeRejected } from './rejected-calls.js';

export type Version = 1 | 2;
type RowV1 = { id: string; status: string; rank: number; calls: number[] };
type RowV2 = { id: string; state: string; rank: number; calls: number[] };
/** A row of either version. */
export type Row = Omit<RowV1, 'status'> & { status?: string; state?: string };
/** Arguments of all mutators; `call` is its number in the simulation. */
export type Args = { call: number; id: string; rank: number };

export const toV2 = ({ status, ...row }: RowV1): RowV2 => ({ ...row, state: status });

const DEFINITIONS = {
  1: table({
    schema: rowType<RowV1>(),
    key: 'id',
    indexes: { byState: ['status', 'rank'], byRank: ['rank'] },
  }),
  2: table({
    schema: rowType<RowV2>(),
    key: 'id',
    indexes: { byState: ['state', 'rank'], byRank: ['rank'] },
    version: 2,
    migrate: (row: RowV1) => toV2(row),
  }),
};
/** The column that has another name in each version. */
export const stateOf = (version: Version) => (version === 1 ? 'status' : 'state');

interface Query {
  orderBy(column: string): Query;
  limit(count: number): Query;
  toArray(): Promise<Row[]>;
  count(): Promise<number>;
}
/** The used calls of a table of either version. */
interface Tasks extends Query {
  get(id: string): Promise<Row | undefined>;
  put(row: Row): unknown;
  update(id: string, change: (row: Row) => Row): Promise<Row | undefined>;
  delete(id: string): unknown;
  where(conditions: object): Query;
  all(): Query;
  watch(take: (changes: readonly RowChange<Row>[]) => void, options: object): () => void;
  migration(): Promise<{ remaining: number; refused: number; error: unknown }>;
}
type Tx = { readonly tasks: Tasks };

const rowOf = (version: Version, { call, id, rank }: Args, state = 'open'): Row => ({
  id,
  [stateOf(version)]: state,
  rank,
  calls: [call],
});

/** Returns the mutators of a tab whose table has a version. */
export const mutatorsOf = (version: Version) => ({
  async add(tx: Tx, args: Args) {
    if (await tx.tasks.get(args.id)) throw new Error('it is there');
    tx.tasks.put(rowOf(version, args));
  },
  async rank(tx: Tx, { call, id, rank }: Args) {
    const done = await tx.tasks.update(id, (row) => ({
      ...row,
      rank,
      calls: [...row.calls, call],
    }));
    if (done === undefined) throw new Error('it is gone');
  },
  /** Closes the open tasks below a rank. */
  async close(tx: Tx, { call, rank }: Args) {
    const conditions = { [stateOf(version)]: 'open', rank: { lt: rank } };
    for (const row of await tx.tasks.where(conditions).toArray())
      tx.tasks.put({ ...row, [stateOf(version)]: 'closed', calls: [...row.calls, call] });
  },
  async remove(tx: Tx, { id }: Args) {
    if (!(await tx.tasks.get(id))) throw new Error('it is gone');
    tx.tasks.delete(id);
  },
  /** The server refuses it. */
  refused(tx: Tx, args: Args) {
    tx.tasks.put(rowOf(version, args, 'refused'));
  },
});

/** Returns the mutators of the server, whose rows have its current version. */
export function serverMutators(server: { version: Version }) {
  type Rows = Map<string, unknown>;
  const keyOf = (id: string) => `tasks/${id}`;
  const stored = (row: Row) => (server.version === 1 ? row : { ...row, '~v': 2 });
  const changed = (rows: Rows, key: string, change: (row: Row) => Row) => {
    const row = rows.get(key) as Row | undefined;
    if (row === undefined) throw new Error('it is gone');
    rows.set(key, change(row));
  };
  return {
    add(rows: Rows, args: Args) {
      if (rows.has(keyOf(args.id))) throw new Error('it is there');
      rows.set(keyOf(args.id), stored(rowOf(server.version, args)));
    },
    rank: (rows: Rows, { call, id, rank }: Args) =>
      changed(rows, keyOf(id), (row) => ({ ...row, rank, calls: [...row.calls, call] })),
    close(rows: Rows, { call, rank }: Args) {
      const state = stateOf(server.version);
      for (const [key, value] of rows) {
        const row = value as Row;
        if (row[state] !== 'open' || row.rank >= rank) continue;
        rows.set(key, { ...row, [state]: 'closed', calls: [...row.calls, call] });
      }
    },
    remove(rows: Rows, { id }: Args) {
      if (!rows.delete(keyOf(id))) throw new Error('it is gone');
    },
    refused() {
      throw new Error('refused');
    },
  };
}

type Handle = Store & { readonly tasks: Tasks };

/** Codes of errors that calls may have while the network and the disk have faults. */
const FAULTS = ['offline', 'remote/status', 'unavailable/disconnected', 'conflict', 'busy'];
/** Codes that a tab of version 1 may also get, for rows of version 2 and for an index that a migration makes. */
const OF_VERSIONS = ['newer-version/schema', 'not-ready'];

export const totals = {
  ...{ calls: 0, rejected: 0, refused: 0, crashes: 0, failures: 0, upgrades: 0, plain: 0 },
  ...{ lists: 0, newer: 0, watched: 0 },
};

/** A tab: its handle, its app, and everything that it shows. */
export class Tab {
  readonly #name: string;
  readonly #disk: ReturnType<Disk['tab']>;
  readonly #network: Network;
  version: Version;
  db!: Handle;
  app!: MutatorConnection<ReturnType<typeof mutatorsOf>>;
  /** Calls that the app reported as rejected. */
  readonly rejected = new Set<number>();
  /** The rows as a watch reports them. */
  watched = new Map<unknown, Row>();
  lists: Live<Row>[] = [];
  count!: LiveCount;
  #stops: (() => void)[] = [];

  constructor(name: string, disk: ReturnType<Disk['tab']>, network: Network, version: Version) {
    this.#name = name;
    this.#disk = disk;
    this.#network = network;
    this.version = version;
  }

  async start(): Promise<void> {
    this.#disk.left = Number.POSITIVE_INFINITY;
    const tables = { tasks: DEFINITIONS[this.version] };
    const db = (await open(this.#name, {
      storage: this.#disk.storage,
      tables,
    } as never)) as unknown as Handle;
    this.db = db;
    this.app = (await db.connect(
      mutators({
        mutators: mutatorsOf(this.version) as never,
        pull: (request) => this.#network.pull(request),
        push: (request) => this.#network.push(request),
      }),
    )) as never;
    takeRejected(this.app, ({ args }) => {
      totals.rejected += 1;
      this.rejected.add((args as Args).call);
    });
    this.#show();
  }

  #show(): void {
    const { tasks } = this.db;
    const state = stateOf(this.version);
    const queries = [
      tasks.where({ [state]: 'open' }).orderBy('rank'),
      tasks.orderBy('rank').limit(3),
      tasks.all(),
    ];
    this.lists = queries.map((query) => live(query as never) as unknown as Live<Row>);
    this.count = liveCount(tasks.where({ [state]: 'open' }) as never);
    this.#stops = this.lists.map((list, at) => list.subscribe(() => this.#look(list, at < 2)));
    this.#stops.push(this.count.subscribe(() => this.#note(this.count.get())));
    this.watched = new Map();
    const take = (changes: readonly RowChange<Row>[]) => {
      for (const change of changes) {
        totals.watched += 1;
        if (change.op === 'delete') this.watched.delete(change.key);
        else this.watched.set(change.key, change.newValue);
      }
    };
    this.#stops.push(tasks.watch(take, { initial: true }));
  }

  #note({ error }: { readonly error: unknown }): void {
    totals.lists += 1;
    if (error === undefined) return;
    const code = kindOf(error);
    expect([...FAULTS, ...OF_VERSIONS, 'closed'], String(error)).toContain(code);
    if (code === 'newer-version/schema') totals.newer += 1;
  }

  /** Checks that a list has each row once, and that a list by rank is in order. */
  #look(list: Live<Row>, isByRank: boolean): void {
    const state = list.get();
    this.#note(state);
    const shown = state.rows.map(({ rank, id }) => [isByRank ? rank : 0, id] as const);
    expect(new Set(shown.map(([, id]) => id)).size).toBe(shown.length);
    expect(shown.toSorted((a, b) => a[0] - b[0] || (a[1] < b[1] ? -1 : 1))).toEqual(shown);
  }

  /** Ends the tab and starts it again, also with the newer app. */
  async restart(version = this.version): Promise<void> {
    for (const stop of this.#stops) stop();
    await this.db.close().catch(() => {});
    this.version = version;
    await this.start();
  }

  /** Returns whether the work succeeded. After it, the tab may have crashed and started again. */
  tries(from: Random, work: () => Promise<unknown>): Promise<boolean> {
    const codes = [...FAULTS, ...(this.version === 1 ? OF_VERSIONS : ['not-ready'])];
    const restart = () => this.restart();
    return tryWork({ disk: this.#disk, codes, totals, restart }, from, work);
  }
}
