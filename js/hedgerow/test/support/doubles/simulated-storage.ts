/**
 * A storage that a seed determines: when calls take effect, when they are answered, when the machine stops, and which
 * changes then survive that were not yet durable.
 *
 * The model. Transactions of one store take effect one after the other, in the order of their begin, across all tabs,
 * as transactions of IndexedDB with overlapping scopes do. The answer comes later. The effect of a transaction is
 * visible at once. It is durable some time later, or when a strict transaction is answered: its flush covers the log,
 * and so all transactions before it.
 *
 * - A killed process loses calls without effect. The system keeps all effects.
 * - A killed tab loses its calls; the others continue.
 * - A power failure also takes changes that are not durable: either the end of the log, as in engines with one log
 *   (LevelDB, SQLite), or any transactions on whose records no surviving one rests, which is more than these engines
 *   lose. Segments that were written relaxed and survive as records may have torn, zeroed or missing bytes: Chromium
 *   and Firefox keep large values in files of their own. Where `filesApart`, a flush of the log does not flush these
 *   files. A strict write is whole or absent: its files are flushed before its record.
 */
import { localLocks } from '../../../src/base/local-locks.js';
import type { Ref, SegmentRecord, Storage } from '../../../src/storage/segment-store.js';
import type { Random } from '../random.js';
import { Connection } from './simulated-connection.js';
import { Disk, IDS_PER_WRITER, type Transaction, tear } from './simulated-disk.js';

/** The kinds of crashes. */
export type Crash = 'process' | 'power';

interface Call {
  readonly connection: Connection;
  /** Takes effect; returns a function that answers it. */
  run(): () => void;
}

/** The state that a crash left. */
export interface Remains {
  readonly kind: Crash;
  /** Generation of the newest commit that must have survived. */
  readonly least: number;
  /** Whether handed-over bytes are gone although something later survived. */
  readonly isDamaged: boolean;
}

/** The world that all connections to one store share. */
export class World implements Storage {
  readonly #from: Random;
  #seen = new Disk();
  #durable = new Disk();
  /** Transactions that are visible and not yet durable. */
  #log: Transaction[] = [];
  /** Segments that are durable as records but not as bytes. */
  #files = new Set<number>();
  readonly #filesApart: boolean;
  #queue: Call[] = [];
  #answers: { connection: Connection; answer: () => void }[] = [];
  #isPumping = false;
  #eventsLeft = Number.POSITIVE_INFINITY;
  #onCrash = () => {};
  #epoch = 0;
  #locks = localLocks();
  /** All segments ever written, and all commits ever made, by their hash. */
  readonly #everWritten = new Map<number, SegmentRecord>();
  readonly #commits = new Map<string, Ref>();
  /** Ids that no writer may use again; ids that a power failure took are free. */
  #ids = new Set<number>();
  #strictGeneration = 0;
  /** The name of the ref of the main branch, as it is stored. */
  #main = 'main';
  /** Refs that exist from the beginning. */
  #first: readonly Ref[] = [];
  events = 0;
  transactions = 0;

  constructor(from: Random) {
    this.#from = from;
    this.#filesApart = from.below(3) === 0;
  }

  /** The generation that the running tabs see. */
  get generation(): number {
    return this.#seen.refs.get(this.#main)?.generation ?? 0;
  }

  /** All moves of the main branch. */
  get mainRefs(): Ref[] {
    return [...this.#commits.values()].filter(({ name }) => name === this.#main);
  }

  /** Begins with refs and another name for the main branch; called before everything else. */
  begin(refs: readonly Ref[], main: string): void {
    this.#main = main;
    this.#first = refs;
    for (const disk of [this.#seen, this.#durable]) {
      for (const ref of refs) disk.refs.set(ref.name, ref);
    }
  }

  /** Changes when everything stops: code that runs on from an earlier life belongs to a dead process. */
  get life(): number {
    return this.#epoch;
  }

  /** Resolves when everything has stopped, after so many events from now. */
  crashAfter(events: number): Promise<void> {
    this.#eventsLeft = events;
    return new Promise((resolve) => {
      this.#onCrash = resolve;
    });
  }

  /** Cancels the crash of `crashAfter`. */
  crashNever(): void {
    this.#eventsLeft = Number.POSITIVE_INFINITY;
  }

  /** Stops everything: calls under way are never answered. */
  end(): void {
    this.#epoch += 1;
    this.#locks = localLocks();
    this.#queue = [];
    this.#answers = [];
    this.#eventsLeft = Number.POSITIVE_INFINITY;
  }

  /** Stops everything by a crash; returns the state that it left. */
  crash(kind: Crash): Remains {
    this.end();
    const acknowledged = this.#strictGeneration;
    if (kind === 'process') return { kind, least: this.generation, isDamaged: false };
    const least = this.#durable.refs.get(this.#main)?.generation ?? 0;
    if (least < acknowledged) throw new Error('the simulation lost a strict commit');
    const isDamaged = this.#losePower();
    return { kind, least, isDamaged };
  }

  #losePower(): boolean {
    const from = this.#from;
    const disk = this.#durable;
    let isDamaged = false;
    const kept = from.below(2) === 0 ? this.#prefix() : this.#independent();
    if (kept.hasHole) isDamaged = true;
    const tearing = from.pick([0, 0, 0.3, 1]);
    const torn = (segment: SegmentRecord): SegmentRecord | undefined => {
      if (from.next() >= tearing) return segment;
      isDamaged = true;
      return tear(segment, from);
    };
    for (const transaction of kept.transactions) {
      disk.apply(transaction);
      if (transaction.durability === 'strict') continue;
      for (const { id } of transaction.segments) this.#files.add(id);
    }
    for (const id of this.#files) {
      const segment = disk.segments.get(id);
      if (segment === undefined) continue;
      const left = torn(segment);
      if (left !== undefined) disk.segments.set(id, left);
    }
    this.#files.clear();
    this.#log = [];
    this.#strictGeneration = 0;
    this.#seen = disk.copy();
    const isTaken = (id: number) => Math.floor(id / IDS_PER_WRITER) <= disk.counter;
    this.#ids = new Set([...this.#ids].filter(isTaken));
    return isDamaged;
  }

  /** Picks the log up to some point. */
  #prefix() {
    const end = this.#from.below(this.#log.length + 1);
    return { transactions: this.#log.slice(0, end), hasHole: false };
  }

  /** Picks any transactions, together with all those on which they rest. */
  #independent() {
    const from = this.#from;
    const dropping = from.pick([0.1, 0.5, 0.9]);
    const lost = new Set<string>();
    const transactions: Transaction[] = [];
    let [holes, hasHole] = [0, false];
    for (const transaction of this.#log) {
      const { segments, deletes, ref, counter } = transaction;
      const changes = [
        ...(counter === undefined ? [] : ['counter', `writer ${counter}`]),
        ...(ref === undefined ? [] : [`ref ${ref.name}`]),
        ...segments.map(({ id }) => `segment ${id}`),
        ...deletes.map((id) => `segment ${id}`),
      ];
      const writers = segments.map(({ id }) => `writer ${Math.floor(id / IDS_PER_WRITER)}`);
      // A deletion must not survive the loss of earlier commits: those may still need the segment.
      const rests = deletes.length > 0 && lost.size > 0;
      const isLost = rests || [...changes, ...writers].some((record) => lost.has(record));
      if (isLost || from.next() < dropping) {
        for (const record of changes) lost.add(record);
        // A commit waits for its strict segments to be answered: it never rests on these.
        if (transaction.durability === 'relaxed') holes += segments.length;
      } else {
        transactions.push(transaction);
        if (holes > 0) hasHole = true;
      }
    }
    return { transactions, hasHole };
  }

  /** Returns a store of its own that holds everything ever written, at one of its commits. */
  intact(commit: string): Storage {
    const disk = new Disk();
    disk.segments = this.#everWritten;
    const ref = this.#commits.get(commit);
    for (const one of [...this.#first, ...(ref ? [ref] : [])]) disk.refs.set(one.name, one);
    const world = new World(this.#from);
    world.#seen = disk;
    return world;
  }

  /** Returns whether a commit was ever made. */
  isCommit(commit: string): boolean {
    return /^0*$/.test(commit) || this.#commits.has(commit);
  }

  /** Returns a connection that can be killed before it is open. */
  connect(): Connection {
    return new Connection(this, this.#epoch, this.#locks);
  }

  open(): Promise<Connection> {
    return this.connect().opened();
  }

  async destroy(): Promise<void> {
    throw new Error('not simulated');
  }

  /** Makes a call take effect in its turn, and answers it later. */
  call<T>(connection: Connection, run: (disk: Disk) => T): Promise<T> {
    return new Promise((resolve, reject) => {
      if (!this.#isAlive(connection)) return;
      const effect = () => {
        try {
          const result = run(this.#seen);
          return () => resolve(result);
        } catch (cause) {
          return () => reject(cause);
        }
      };
      this.#queue.push({ connection, run: effect });
      this.#pump();
    });
  }

  /** As `call`, but changes the store if `make` returns a transaction. */
  change<T>(
    connection: Connection,
    make: (disk: Disk) => { transaction?: Transaction; result: T },
  ): Promise<T> {
    let made: Transaction | undefined;
    const done = this.call(connection, (disk) => {
      const { transaction, result } = make(disk);
      if (transaction !== undefined) this.#commit(transaction);
      made = transaction;
      return result;
    });
    return done.then((result) => {
      if (made?.ref !== undefined && made.durability === 'strict') {
        this.#strictGeneration = Math.max(this.#strictGeneration, made.ref.generation);
      }
      return result;
    });
  }

  #commit(transaction: Transaction): void {
    for (const segment of transaction.segments) {
      if (this.#ids.has(segment.id)) throw new Error(`segment ${segment.id} is written twice`);
      this.#ids.add(segment.id);
      this.#everWritten.set(segment.id, segment);
    }
    this.transactions += 1;
    this.#seen.apply(transaction);
    this.#log.push(transaction);
    const { ref } = transaction;
    if (ref !== undefined) this.#commits.set(Buffer.from(ref.commitBytes).toString('hex'), ref);
  }

  /** Makes the first `count` transactions of the log durable. */
  #flush(count: number, withFiles: boolean): void {
    for (const transaction of this.#log.splice(0, count)) {
      this.#durable.apply(transaction);
      if (transaction.durability === 'strict') continue;
      for (const { id } of transaction.segments) this.#files.add(id);
    }
    if (withFiles) this.#files.clear();
  }

  #isAlive(connection: Connection): boolean {
    return connection.epoch === this.#epoch && !connection.isKilled;
  }

  #pump(): void {
    if (this.#isPumping) return;
    this.#isPumping = true;
    setImmediate(() => this.#tick());
  }

  /** Runs one event: a call takes effect or is answered, a change becomes durable, or everything ends. */
  #tick(): void {
    this.#isPumping = false;
    this.events += 1;
    if (--this.#eventsLeft === 0) {
      this.#epoch += 1;
      this.#onCrash();
      return;
    }
    const from = this.#from;
    const chance = from.next();
    if (chance < 0.04) this.#flush(from.below(this.#log.length + 1), from.below(2) === 0);
    if (this.#answers.length > 0 && (this.#queue.length === 0 || chance < 0.5)) this.#answer();
    else this.#take();
    if (this.#queue.length + this.#answers.length > 0) this.#pump();
  }

  #take(): void {
    const call = this.#queue.shift();
    if (call === undefined || !this.#isAlive(call.connection)) return;
    const before = this.#log.length;
    const { connection, run } = call;
    const answer = run();
    const made = this.#log.length > before ? this.#log.at(-1) : undefined;
    this.#answers.push({
      connection,
      answer: () => {
        if (made?.durability === 'strict') {
          this.#flush(this.#log.indexOf(made) + 1, !this.#filesApart);
        }
        answer();
      },
    });
  }

  #answer(): void {
    const next = this.#answers.shift();
    if (next !== undefined && this.#isAlive(next.connection)) next.answer();
  }
}
