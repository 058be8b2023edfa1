/** Mirrors of live queries in a worker, for the live queries of the page. */
import { nameOfValue } from '../../base/name-of-value.js';
import { later } from '../../base/timeout.js';
import type { LiveFollower, LiveSource, LiveStatus } from '../../live/types.js';
import type { StatePatch } from '../host/live-query-sender.js';
import type { Call } from '../protocol.js';
import type { WorkerLink } from './worker-link.js';

/** Milliseconds for which a mirror stays up to date without listeners, as in the page. */
const LINGER_MS = 1000;

type StateOf<State> = (rows: readonly never[], told: LiveStatus, number?: number) => State;

/** The place of a live query: an object of the worker, and the options of `live` there, if it takes any. */
export interface MirrorTarget {
  readonly link: WorkerLink;
  readonly target: number;
  readonly path: readonly Call[];
  readonly options?: unknown;
}

/** The mirrors of a connection, by their names. */
class Mirrors {
  readonly all = new Map<string, LiveQueryMirror<LiveStatus>>();

  find(name: string): unknown {
    return this.all.get(name);
  }
}

const hubs = new WeakMap<WorkerLink, Mirrors>();
const numbers = new WeakMap<object, number>();
let last = 0;

/** Returns the number of an object, which stays the same. */
function numberOf(object: object): number {
  const number = numbers.get(object) ?? ++last;
  numbers.set(object, number);
  return number;
}

/** The mirror of the rows of a source, or of their number. */
export class LiveQueryMirror<State extends LiveStatus> implements LiveFollower<State> {
  readonly #asked: MirrorTarget;
  readonly #kind: string;
  readonly #rowOf: LiveSource<unknown>['rowOf'];
  readonly #stateOf: StateOf<State>;
  /** Equal for mirrors that make rows in the same way. */
  readonly #rowsName: string;
  /** The mirror that was shown before, until this one begins. */
  #before: LiveQueryMirror<LiveStatus> | undefined;
  readonly wanted: { readonly hub: Mirrors; readonly name: string };
  readonly #listeners = new Set<() => void>();
  state: State;
  isLoaded = false;
  isOver = true;
  #hasFailed = false;
  id = 0;
  /** The number of states taken. */
  taken = 0;
  /** The rows as they are shown. */
  rows: readonly unknown[] = [];
  #isUsed = false;
  #stopTimer = () => {};

  constructor(
    asked: MirrorTarget,
    kind: 'rows' | 'row' | 'count',
    { rowOf, name }: Pick<LiveSource<unknown>, 'rowOf' | 'name'>,
    stateOf: StateOf<State>,
    before: unknown,
  ) {
    this.#asked = asked;
    this.#kind = kind;
    this.#rowOf = rowOf;
    this.#stateOf = stateOf;
    this.#rowsName = `${kind} ${name ?? numberOf(rowOf)}`;
    const isSame = before instanceof LiveQueryMirror && before.#rowsName === this.#rowsName;
    this.#before = isSame && before.#asked.link === asked.link ? before : undefined;
    const hub = hubs.get(asked.link) ?? new Mirrors();
    hubs.set(asked.link, hub);
    const { target, path, options } = asked;
    const shape = numberOf(stateOf);
    this.wanted = { hub, name: nameOfValue([this.#rowsName, shape, target, path, options]) };
    this.state = stateOf([], { status: 'loading', isStale: false, error: undefined });
  }

  #begin(): void {
    const { link, target, path, options } = this.#asked;
    // The worker has no rows of a mirror that has failed.
    const isThere = this.#before?.isOver === false && !this.#before.#hasFailed;
    const before = isThere ? this.#before : undefined;
    this.#before = undefined;
    this.rows = before?.rows ?? [];
    this.#hasFailed = false;
    this.taken = 0;
    const items: unknown[] = [];
    const live: Call = ['live', this.#kind, options, before?.id, before?.taken];
    this.id = link.call(target, [...path, live], {
      no: (error) => this.#fail(error),
      part: (members, taken) => {
        for (const one of members) items.push(one);
        taken();
      },
      receiveArgs: ([patch]) => {
        this.#take(patch as StatePatch, items.splice(0));
        return [];
      },
    });
  }

  #take({ from, to, status, isStale, error, number }: StatePatch, items: readonly unknown[]): void {
    const old = this.rows;
    this.taken += 1;
    let [fault, now] = [error, status];
    const buildRow = (item: unknown): unknown => {
      if (typeof item === 'number') return old[item];
      const [row] = item as [unknown];
      // Rows of a store are entries.
      const entry = this.#asked.options === undefined || this.#kind === 'row' ? ['', row] : row;
      try {
        return this.#rowOf(...(entry as Parameters<LiveSource<unknown>['rowOf']>));
      } catch (cause) {
        [fault, now] = [cause, 'error'];
        return undefined;
      }
    };
    if (from !== to || items.length > 0)
      this.rows = [...old.slice(0, from), ...items.map(buildRow), ...old.slice(to)];
    this.isLoaded ||= now === 'ready';
    this.#show(this.rows, { status: now, isStale, error: fault }, number);
  }

  #show(rows: readonly unknown[], told: LiveStatus, number: number | undefined): void {
    this.state = this.#stateOf(rows as readonly never[], told, number);
    for (const listener of [...this.#listeners]) if (this.#listeners.has(listener)) listener();
  }

  #fail(error: unknown): void {
    this.#hasFailed = true;
    this.state = { ...this.state, status: 'error', error };
    for (const listener of [...this.#listeners]) listener();
  }

  touch(): void {
    this.#isUsed = true;
    if (!this.isOver) return;
    this.isOver = false;
    const { hub, name } = this.wanted;
    hub.all.set(name, this);
    this.#idle();
    this.#begin();
  }

  listen(listener: () => void): () => void {
    this.touch();
    this.retry();
    this.#stopTimer();
    this.#listeners.add(listener);
    return () => {
      if (this.#listeners.delete(listener)) this.#idle();
    };
  }

  retry(): void {
    if (this.#hasFailed && !this.isOver) this.#begin();
  }

  release(): void {
    if (this.#listeners.size > 0 || this.isOver) return;
    this.#stopTimer();
    this.isOver = true;
    const { hub, name } = this.wanted;
    if (hub.all.get(name) === this) hub.all.delete(name);
    this.#asked.link.stop(this.id);
  }

  #idle(): void {
    if (this.#listeners.size > 0) return;
    this.#stopTimer();
    this.#stopTimer = later(() => {
      if (!this.#isUsed) return this.release();
      this.#isUsed = false;
      this.#idle();
    }, LINGER_MS);
  }
}
