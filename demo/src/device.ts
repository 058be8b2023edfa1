/** A device of the page: its own store, connected to the server by a wire that can be pulled out. */
import { destroy, open, type RowChange, type StoreWith } from 'hedgerow';
import {
  type BucketConnection,
  bucket,
  type ConnectionState,
  httpRemote,
  type LoggedConflict,
  type SyncProgress,
} from 'hedgerow/sync';
import type { Exchange, Field, Report, Task, ToldConflict } from './device-messages.js';
import { FIELDS, STATES, TASKS, tasks } from './tasks.js';
import { Wire, type WireCall } from './wire.js';

/** An edit is sent at once; text typed within this time after it goes together. */
const PAUSE_MS = 250;

type TaskStore = StoreWith<{ readonly tasks: typeof tasks }>;

export interface DeviceEvents {
  readonly onRows: (changes: readonly RowChange<Task>[]) => void;
  readonly onProgress: (progress: SyncProgress | undefined) => void;
  readonly onCall: (call: WireCall) => void;
  readonly onChange: () => void;
  readonly onDeleted: () => void;
}

type Told = Pick<Report, 'clone' | 'exchange' | 'conflicts'>;

export class Device {
  readonly name: string;
  readonly wire: Wire;
  readonly #url: string;
  readonly #events: DeviceEvents;
  #store: TaskStore | undefined;
  #origin: TaskStore | undefined;
  #connection: BucketConnection | undefined;
  #isStarted = false;
  state: ConnectionState | undefined;
  /** Numbers of tasks that differ from the server's, as last seen. */
  waiting: ReadonlySet<number> = new Set();
  syncedAt: Date | undefined;
  told: Told = { clone: undefined, exchange: undefined, conflicts: [] };
  /** Calls since the last exchange, and the most rows that waited since then. */
  #calls: WireCall[] = [];
  #mostWaiting = 0;
  /** Rows that the push under way has merged. */
  #merged = 0;

  /** The device `name` of this browser, with the server at `url`. */
  constructor(name: string, url: string, events: DeviceEvents) {
    this.name = name;
    this.#url = url;
    this.#events = events;
    const plug = `${this.#key}/unplugged`;
    this.wire = new Wire(url, localStorage.getItem(plug) === null, (call) => {
      this.#calls.push(call);
      events.onCall(call);
    });
    // Other tabs of this browser show the same device.
    addEventListener('storage', ({ key, newValue }) => {
      if (key !== plug) return;
      this.wire.isPlugged = newValue === null;
      events.onChange();
    });
  }

  get #key(): string {
    return `hedgerow-device-${this.name}`;
  }

  get store(): TaskStore | undefined {
    return this.#store;
  }

  get traffic() {
    return this.#connection?.traffic ?? { requests: 0, sentBytes: 0, receivedBytes: 0 };
  }

  /** Opens the store, clones if it is empty, and keeps it in sync from then on. */
  async start(): Promise<void> {
    const name = await this.#storeName();
    const store = await open(name, {
      tables: { tasks },
      advanced: { onDeleted: this.#events.onDeleted },
    });
    this.#store = store;
    // This project's own server keeps writers apart: no probe is needed.
    const remote = this.wire.through(httpRemote({ url: this.#url }));
    const connection = await store.connect(bucket(remote, { probe: false }));
    this.#connection = connection;
    this.#origin = await store.branches.open(connection.originName);
    store.tasks.watch(
      async (changes) => {
        this.#events.onRows(changes);
        await this.#look();
      },
      { initial: true },
    );
    if ((await store.tasks.count()) === 0 && this.wire.isPlugged) await this.#clone(connection);
    this.#calls = [];
    await this.#readConflicts();
    connection.subscribe(() => void this.#onState(connection.state));
    connection.onPull(({ rows }) => this.#tellReceived(rows));
    connection.onProgress(this.#events.onProgress);
    this.#isStarted = true;
    connection.start({ pauseMs: PAUSE_MS, subscribe: this.wire.pokes });
  }

  /** Returns the name of the running server's store: a restarted server has other rows. */
  async #storeName(): Promise<string> {
    const known = localStorage.getItem(this.#key);
    let id = known;
    if (this.wire.isPlugged || known === null) {
      const response = await fetch(`${this.#url}hedgerow`, { cache: 'no-store' });
      if (!response.ok) throw new TypeError(`the server has no list: status ${response.status}`);
      const bytes = new Uint8Array(await response.arrayBuffer());
      id = Array.from(bytes.slice(-8), (byte) => byte.toString(16).padStart(2, '0')).join('');
    }
    if (known !== null && known !== id) await destroy(`${this.#key}-${known}`);
    localStorage.setItem(this.#key, String(id));
    return `${this.#key}-${id}`;
  }

  async #clone(connection: BucketConnection): Promise<void> {
    this.#events.onProgress(undefined);
    const startMs = performance.now();
    await connection.pull({ onProgress: this.#events.onProgress });
    const { requests, receivedBytes } = connection.traffic;
    const ms = performance.now() - startMs;
    this.#tell({ clone: { ms, requests, received: receivedBytes } });
    this.syncedAt = new Date();
  }

  /** Deletes the store, and starts again with a clone. */
  async startAgain(): Promise<void> {
    await this.#store?.close();
    await destroy(`${this.#key}-${localStorage.getItem(this.#key)}`);
  }

  plug(isPlugged: boolean): void {
    const key = `${this.#key}/unplugged`;
    if (isPlugged) localStorage.removeItem(key);
    else localStorage.setItem(key, 'yes');
    this.wire.isPlugged = isPlugged;
    this.#events.onChange();
  }

  /** Changes fields of a row, and leaves the other fields unchanged. */
  async edit(number: number, change: Partial<Task>): Promise<void> {
    await this.#store?.tasks.update(number, change);
  }

  /** Changes ten rows in one commit. */
  async changeTen(): Promise<void> {
    const numbers = new Set<number>();
    while (numbers.size < 10) numbers.add(1 + Math.floor(Math.random() * TASKS));
    const further = (task: Task): Task => ({
      ...task,
      status: statusAfter(task.status),
      minutes: task.minutes + 5,
    });
    await this.#store?.transaction(async (tx) => {
      for (const number of numbers) await tx.tasks.update(number, further);
    });
  }

  /** Changes the title or the status of a task to a new value, and adds to its minutes. */
  async stir(number: number, field: 'title' | 'status', more: number): Promise<void> {
    await this.#store?.tasks.update(number, (task) => {
      const minutes = task.minutes + more;
      if (field === 'status') return { ...task, status: statusAfter(task.status), minutes };
      // Short, so that all of it fits a narrow list.
      const [, part = '0'] = /^Lay the hedge, part (\d+)$/.exec(task.title) ?? [];
      return { ...task, title: `Lay the hedge, part ${Number(part) + 1}`, minutes };
    });
  }

  async forgetConflicts(): Promise<void> {
    const ids = new Set(this.told.conflicts.map(({ id }) => id));
    await this.#connection?.forgetConflicts(ids);
    await this.#readConflicts();
  }

  async #onState(state: ConnectionState): Promise<void> {
    this.state = state;
    if (state.status === 'synced') {
      this.syncedAt = new Date();
      this.#tellSent();
      await this.#readConflicts();
    }
    await this.#look();
  }

  get #hasWritten(): boolean {
    return this.#calls.some(({ isWrite }) => isWrite);
  }

  /** Notes rows that came in. If they came during a push, because another device was first, the push reports them. */
  #tellReceived(rows: number): void {
    if (this.state?.isPending || this.#hasWritten) this.#merged += rows;
    else this.#tellExchange('received', rows);
  }

  /** Reports a push, with the merge where another device was first. */
  #tellSent(): void {
    if (this.#hasWritten) this.#tellExchange(this.#merged > 0 ? 'merged' : 'sent');
    // Local changes to the same rows were equal, or lost.
    else if (this.#merged > 0) this.#tellExchange('received', this.#merged);
  }

  #tellExchange(way: Exchange['way'], received?: number): void {
    // Polls that found no change moved no rows.
    const calls = this.#calls.filter(({ sent, received }) => sent + received > 0);
    const rows = received ?? this.#mostWaiting;
    const sum = (of: 'sent' | 'received') => calls.reduce((total, call) => total + call[of], 0);
    this.#calls = [];
    this.#mostWaiting = 0;
    this.#merged = 0;
    const bytes = { sent: sum('sent'), received: sum('received') };
    this.#tell({ exchange: { way, rows, requests: calls.length, ...bytes } });
  }

  #tell(more: Partial<Told>): void {
    this.told = { ...this.told, ...more };
    this.#events.onChange();
  }

  /** Counts the waiting rows: a diff of two roots reads only what differs. */
  async #look(): Promise<void> {
    const [store, origin] = [this.#store, this.#origin];
    if (store === undefined || origin === undefined) return;
    const numbers = new Set<number>();
    // A store that clones has no changes of its own.
    if (this.#isStarted && store.root !== origin.root) {
      try {
        for await (const change of store.history.diff<Task>(origin.root, store.root)) {
          const { number } = change.op === 'delete' ? change.oldValue : change.newValue;
          numbers.add(number);
        }
      } catch {
        // A root has moved on and is gone: the next change looks again.
        return;
      }
    }
    this.waiting = numbers;
    this.#mostWaiting = Math.max(this.#mostWaiting, numbers.size);
    this.#events.onChange();
  }

  async #readConflicts(): Promise<void> {
    if (this.#connection === undefined) return;
    const conflicts: ToldConflict[] = [];
    for await (const one of this.#connection.conflicts()) conflicts.push(...fieldsOf(one));
    this.#tell({ conflicts: conflicts.reverse() });
  }
}

function statusAfter(status: Task['status']): Task['status'] {
  return STATES[(STATES.indexOf(status) + 1) % STATES.length] ?? 'open';
}

/** Splits a logged conflict into one for each field that both had changed. */
function fieldsOf({ id, base, ours, theirs, result, fields = [] }: LoggedConflict) {
  const text = (row: unknown, field: string) => {
    const value = (row as Record<string, unknown> | undefined)?.[field];
    return value === undefined ? 'nothing' : String(value);
  };
  const changed = (row: unknown): readonly Field[] =>
    FIELDS.filter((field) => !fields.includes(field) && text(row, field) !== text(base, field));
  return fields.map(
    (field): ToldConflict => ({
      id,
      number: ((base ?? ours ?? theirs) as Task).number,
      field,
      ours: text(ours, field),
      theirs: text(theirs, field),
      result: text(result, field),
      onlyOurs: changed(ours),
      onlyTheirs: changed(theirs),
    }),
  );
}
