/** A workload under which connections are lost, and the states that it may leave. */
import { destroy, open, type Store } from 'hedgerow';
import { deleted, heal, install, lose, type Notice } from './losses.js';
import { mix, textOf } from './script.js';
import { Calls, type Ending } from './settling.js';

const ROWS = 1200;
const TEXT_LENGTH = 1500;
/** The codes with which calls may end when a connection is lost. */
const ALLOWED = ['disconnected', 'closed'];
/** Writes that are tried after a failed one: each doubles the possible states. */
const MORE_WRITES = 2;

type Rows = ReadonlyMap<string, number>;
const key = (id: number) => `row/${String(id).padStart(5, '0')}`;
const rowOf = (id: number, round: number) => ({
  round,
  text: textOf(mix(id, round), TEXT_LENGTH),
});

interface Write {
  readonly name: string;
  readonly run: (db: Store) => Promise<unknown>;
  readonly apply: (rows: Map<string, number>) => void;
}

const put = (ids: readonly number[], round: number): Write => ({
  name: `put of ${ids.length}`,
  run: (db) => Promise.all(ids.map((id) => db.put(key(id), rowOf(id, round)))),
  apply: (rows) => {
    for (const id of ids) rows.set(key(id), round);
  },
});

const putMany = (ids: readonly number[], round: number): Write => ({
  name: `putMany of ${ids.length}`,
  run: (db) => db.putMany(ids.map((id) => [key(id), rowOf(id, round)] as const)),
  apply: (rows) => {
    for (const id of ids) rows.set(key(id), round);
  },
});

const numbers = (count: number) => Array.from({ length: count }, (_, id) => id);

const WRITES: readonly Write[] = [
  putMany(numbers(ROWS), 1),
  put([3], 2),
  put([1, 700, ROWS], 3),
  putMany(
    numbers(ROWS).filter((id) => id % 3 === 0),
    4,
  ),
  {
    name: 'delete',
    run: (db) => db.delete(key(5)),
    apply: (rows) => void rows.delete(key(5)),
  },
  {
    name: 'deleteMany of a range',
    run: (db) => db.deleteMany({ gte: key(100), lt: key(150) }),
    apply: (rows) => {
      for (let id = 100; id < 150; id++) rows.delete(key(id));
    },
  },
];

/** The results of the workload. */
export interface Disconnected {
  readonly steps: number;
  readonly codes: Readonly<Record<string, number>>;
  readonly problems: readonly string[];
}

class Workload {
  readonly calls = new Calls();
  /** All states that the store may have: more than one after a failed write. */
  #states: Rows[] = [new Map()];
  #failedWrites = 0;
  #db: Store | undefined;
  readonly #name: string;
  readonly #allowed: readonly string[];

  constructor(name: string, allowed: readonly string[]) {
    this.#name = name;
    this.#allowed = allowed;
  }

  async open(): Promise<void> {
    for (let tries = 0; this.#db === undefined && tries < 3; tries++) {
      const ending = await this.calls.ended('open', () => open(this.#name));
      this.calls.allow('open', ending, this.#allowed);
      if ('result' in ending) this.#db = ending.result;
    }
    // It may be the store that was there, or the one after it.
    if (deleted() !== undefined) this.#states.push(new Map());
  }

  async close(): Promise<void> {
    const db = this.#db;
    this.#db = undefined;
    if (db === undefined) return;
    const ending = await this.calls.ended('close', () => db.close());
    this.calls.allow('close', ending, []);
  }

  async write({ name, run, apply }: Write): Promise<void> {
    const db = this.#db;
    if (db === undefined || this.#failedWrites > MORE_WRITES) return;
    const ending = await this.calls.ended(name, () => run(db));
    this.calls.allow(name, ending, this.#allowed);
    const applied = this.#states.map((state) => {
      const rows = new Map(state);
      apply(rows);
      return rows;
    });
    if ('result' in ending) {
      this.#states = applied;
      return;
    }
    this.#failedWrites += 1;
    // The answer is lost: the write may have taken effect.
    this.#states = [...this.#states, ...applied];
  }

  async read(): Promise<void> {
    const db = this.#db;
    if (db === undefined) return;
    const note = <T>(name: string, ending: Ending<T>) => {
      this.calls.allow(name, ending, this.#allowed);
      return ending;
    };
    const { calls } = this;
    note('get', await calls.ended('get', () => db.get(key(1))));
    note('count', await calls.ended('count', () => db.count()));
    note('stats', await calls.ended('stats', () => db.health.stats()));
    const scanned = note('scan', await calls.ended('scan', () => db.scan().toArray()));
    if ('result' in scanned) this.#compare('scan', scanned.result);
  }

  /** Checks that entries are one of the possible states. */
  #compare(where: string, entries: readonly (readonly [string, unknown])[]): void {
    const found = new Map<string, number>();
    for (const [key, value] of entries) {
      const { round, text } = value as ReturnType<typeof rowOf>;
      found.set(key, round);
      if (text !== rowOf(Number(key.slice(4)), round).text) {
        this.calls.problems.push(`${where}: ${key} has a value that nobody wrote`);
      }
    }
    const isSame = (state: Rows) =>
      state.size === found.size && [...state].every(([key, round]) => found.get(key) === round);
    if (!this.#states.some(isSame)) {
      this.calls.problems.push(`${where}: ${found.size} rows are no state that there may be`);
    }
  }

  /** Checks that without further losses all calls are right: in the same handle, then in another one. */
  async recovers(): Promise<void> {
    const wasOpen = this.#db !== undefined;
    const deletion = deleted();
    if (deletion !== undefined) {
      // The handle's store is gone: another handle has the current store.
      await this.calls.ended('the deletion', () => deletion);
      await this.close();
    }
    await this.open();
    const db = this.#db!;
    const right = async <T>(name: string, call: () => Promise<T>) => {
      const ending = await this.calls.ended(name, call);
      if ('result' in ending) return ending.result;
      this.calls.problems.push(`afterwards (open: ${wasOpen}) ${name}: ${ending.message}`);
      return undefined;
    };
    const last = put([ROWS + 1], 9);
    await right('put', () => last.run(db));
    for (const state of this.#states) last.apply(state as Map<string, number>);
    this.#compare('afterwards', (await right('scan', () => db.scan().toArray())) ?? []);
    const { root } = db;
    await this.close();
    await this.open();
    this.#compare('opened again', (await right('scan', () => this.#db!.scan().toArray())) ?? []);
    if (this.#db!.root !== root) this.calls.problems.push('another root when opened again');
    await this.close();
  }
}

let installed = false;

/** Runs the workload while the connection is lost `times` times in a row from step `from` on. */
export async function disconnectAt(
  from: number,
  times: number,
  how: Notice,
): Promise<Disconnected> {
  if (!installed) install();
  installed = true;
  const name = `lost-${from}-${times}-${how}`;
  const workload = new Workload(name, ALLOWED);
  lose(from, times, how);
  await workload.open();
  for (const write of WRITES.slice(0, 3)) await workload.write(write);
  await workload.read();
  await workload.close();
  // Opened again, so the memory is empty: every read goes to storage.
  await workload.open();
  for (const write of WRITES.slice(3)) await workload.write(write);
  await workload.read();
  const steps = heal();
  await workload.recovers();
  await destroy(name);
  return { steps, codes: workload.calls.codes, problems: workload.calls.problems };
}
