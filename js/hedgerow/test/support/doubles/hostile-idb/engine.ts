/**
 * A small IndexedDB in memory whose transactions fail for lack of room as they do in real engines. A seed decides the
 * order of events.
 *
 * Its behaviour for each engine was seen in the real one (`docs/reliability.md`):
 *
 * - `chromium`: all requests succeed, and the commit fails: `abort` without an `error` event.
 * - `webkit`: the request fails; after `commit()` the error of the transaction stays `null`.
 * - `firefox`: either the commit fails and all is undone, or a request fails and everything before it is undone. In the
 *   second case **some of the requests queued behind it take effect singly**, until the page hears of the failure. The
 *   next transaction that writes accepts deletions only. A deletion may need room, too. If `commit()` was called before
 *   a request fails, the failure does not abort the transaction: the requests behind it end one by one, and if the last
 *   of them fails, too, the transaction is reported as **complete**.
 *
 * Connections are lost, too: a transaction whose commit is under way is then made or not.
 */
import type { Random } from '../../random.js';
import {
  type Backend,
  HostileDatabase,
  HostileEvent,
  HostileOpenRequest,
  type HostileRequest,
  HostileTransaction,
  type Operation,
} from './objects.js';
import type { Records } from './records.js';
import {
  type EngineKind,
  growthOf,
  nothingHappened,
  type Running,
  recordsOf,
  runningOf,
} from './running.js';

const QUOTA = 'QuotaExceededError';
const FAILED = (name: string) => new DOMException(name, name);
/** The real one: tests replace the global with a fake. */
const schedule = setImmediate.bind(undefined);

export class HostileEngine implements Backend {
  readonly kind: EngineKind;
  readonly happened = nothingHappened();
  /** Bytes that all databases together may have. */
  quota = Number.POSITIVE_INFINITY;
  /** The chance that a tick loses a connection. */
  losing = 0;
  /** Errors of the next requests, by name, and whether they come at the call or at its execution. */
  faults: { readonly at: 'call' | 'request'; readonly name: string }[] = [];
  /** The next commit of a write loses its connection, and is made or undone. */
  lostCommit: 'made' | 'undone' | undefined;
  /** The names of all databases that were opened. */
  readonly openedNames: string[] = [];
  /** Called when a transaction begins. */
  onBegin: ((transaction: HostileTransaction) => void) | undefined;
  readonly #from: Random;
  readonly #databases = new Map<string, Map<string, Records>>();
  #connections = new Set<HostileDatabase>();
  /** Connections of processes that have ended: their requests are never answered. */
  readonly #dead = new WeakSet<HostileDatabase>();
  #running: Running[] = [];
  /** Openings and deletions that wait for connections to close. */
  #waiting: (() => boolean)[] = [];
  #isPumping = false;
  #life = 0;

  constructor(kind: EngineKind, from: Random) {
    this.kind = kind;
    this.#from = from;
  }

  /** Names of databases that a suspended tab is about to make: openings of these wait. */
  readonly suspended = new Set<string>();

  /** Bytes of all databases. */
  get used(): number {
    const all = [...this.#databases.values()].flatMap((stores) => [...stores.values()]);
    return all.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** Returns the content of a database by object store; `undefined` if there is no such database. */
  stored(name: string): ReadonlyMap<string, Records> | undefined {
    return this.#databases.get(name);
  }

  /** Ends the process: it commits no running transaction and dispatches no more events. */
  end(): void {
    this.#life += 1;
    this.#running = [];
    this.#waiting = [];
    for (const one of this.#connections) this.#dead.add(one);
    this.#connections = new Set();
    this.#isPumping = false;
  }

  open(name: string): HostileOpenRequest {
    const request = new HostileOpenRequest();
    this.happened.openings += 1;
    this.openedNames.push(name);
    this.#waiting.push(() => {
      if (this.suspended.has(name)) return false;
      const isNew = !this.#databases.has(name);
      const stores = this.#databases.get(name) ?? new Map<string, Records>();
      const database = new HostileDatabase(name, this, stores);
      request.result = database;
      if (!isNew) {
        this.#connections.add(database);
        request.dispatch(new HostileEvent('success', request));
        return true;
      }
      const all = new HostileTransaction(database, [], 'versionchange', 'default', false);
      let isAborted = false;
      all.abort = () => {
        isAborted = true;
      };
      request.transaction = all;
      request.dispatch(new HostileEvent('upgradeneeded', request));
      if (isAborted) {
        request.error = FAILED('AbortError');
        all.dispatch(new HostileEvent('abort', all));
        request.dispatch(new HostileEvent('error', request));
        return true;
      }
      this.#databases.set(name, stores);
      this.#connections.add(database);
      all.dispatch(new HostileEvent('complete', all));
      request.dispatch(new HostileEvent('success', request));
      return true;
    });
    this.wake();
    return request;
  }

  deleteDatabase(name: string): HostileOpenRequest {
    const request = new HostileOpenRequest();
    let isTold = false;
    const open = () => [...this.#connections].filter((one) => one.name === name);
    this.#waiting.push(() => {
      if (!isTold) {
        isTold = true;
        for (const one of open()) one.dispatch(new HostileEvent('versionchange', one));
      }
      if (open().length > 0) return false;
      this.#databases.delete(name);
      request.result = undefined;
      request.dispatch(new HostileEvent('success', request));
      return true;
    });
    this.wake();
    return request;
  }

  closed(database: HostileDatabase): void {
    // Its transactions still finish.
    this.#connections.delete(database);
    this.wake();
  }

  begin(transaction: HostileTransaction): void {
    if (this.#dead.has(transaction.db)) return;
    this.happened.transactions += 1;
    this.onBegin?.(transaction);
    this.#running.push(runningOf(transaction));
    this.wake();
  }

  wake(): void {
    if (this.#isPumping) return;
    this.#isPumping = true;
    const life = this.#life;
    schedule(() => {
      if (life !== this.#life) return;
      this.#isPumping = false;
      this.#tick();
    });
  }

  /** Throws if the next request is to be refused. */
  check(): void {
    const fault = this.#takeFault('call');
    if (fault !== undefined) throw fault;
  }

  #takeFault(at: 'call' | 'request'): DOMException | undefined {
    if (this.faults[0]?.at !== at) return undefined;
    return FAILED(this.faults.shift()?.name ?? '');
  }

  /** Undoes everything at the page's request: that works in every engine. */
  abort(transaction: HostileTransaction): void {
    const one = this.#running.find((other) => other.transaction === transaction);
    one?.changed.clear();
    if (one !== undefined) this.#tellAborted(one, null);
  }

  /** Runs one event. */
  #tick(): void {
    const from = this.#from;
    if (this.losing > 0 && from.next() < this.losing) this.#loseOne();
    const actions: (() => void)[] = [];
    this.#running.forEach((one, at) => {
      if (this.#isBlocked(one, at)) return;
      const { operations, answers, isCommitAsked } = one.transaction;
      if (operations.length > 0) actions.push(() => this.#execute(one));
      if (answers.length > 0) actions.push(() => this.#answer(one));
      const isDone = operations.length === 0 && (answers.length === 0 || isCommitAsked);
      if (isDone && one.failure === undefined) actions.push(() => this.#commit(one));
      else if (isDone && answers.length === 0) actions.push(() => this.#endBroken(one));
    });
    const next = this.#waiting[0];
    if (next !== undefined) {
      actions.push(() => {
        if (next()) this.#waiting.splice(this.#waiting.indexOf(next), 1);
      });
    }
    if (actions.length === 0) return;
    from.pick(actions)();
    const isStuck = this.#running.length === 0 && actions.length === 1 && next !== undefined;
    if (!isStuck || this.#waiting[0] !== next) this.wake();
  }

  /** Whether an earlier transaction must end first. */
  #isBlocked({ transaction }: Running, at: number): boolean {
    const overlaps = (other: HostileTransaction) =>
      other.db.name === transaction.db.name &&
      (other.mode !== 'readonly' || transaction.mode !== 'readonly') &&
      other.scope.some((name) => transaction.scope.includes(name));
    return this.#running.slice(0, at).some((other) => overlaps(other.transaction));
  }

  #execute(one: Running): void {
    const { transaction } = one;
    const operation = transaction.operations.shift() as Operation;
    const { request, writes } = operation;
    if (one.failure !== undefined) {
      const isAlone =
        one.isBroken && writes !== undefined && this.#takesEffectAlone(one, operation);
      if (one.isBroken && transaction.isCommitAsked) {
        one.endsComplete = !isAlone;
        transaction.answers.push(isAlone ? { request } : { request, error: one.failure });
      } else transaction.answers.push({ request, error: FAILED('AbortError') });
      return;
    }
    const fault = this.#takeFault('request');
    if (fault !== undefined) {
      one.failure = fault;
      one.changed.clear();
      transaction.answers.push({ request, error: fault });
      return;
    }
    const records = recordsOf(one, operation);
    const result = operation.run(records);
    const isRefused =
      this.kind === 'firefox'
        ? writes !== undefined && !transaction.isCleanup && this.#from.below(2) === 0
        : this.kind === 'webkit' && writes === 'put';
    const mayGrow = writes === 'put' || (writes === 'delete' && this.#from.below(4) === 0);
    if (isRefused && mayGrow && this.used + growthOf(one) > this.quota) {
      this.#fail(one);
      one.isBroken = this.kind === 'firefox';
      transaction.answers.push({ request, error: one.failure as unknown as DOMException });
      return;
    }
    transaction.answers.push({ request, result });
  }

  /** Executes a request that was queued behind the failure, before the page knows of that. */
  #takesEffectAlone({ transaction }: Running, operation: Operation): boolean {
    if (this.#from.below(2) === 0) return false;
    const { stores } = transaction.db;
    const before = stores.get(operation.store) as Records;
    const after = before.copy();
    operation.run(after);
    if (after.bytes > before.bytes && this.used + after.bytes - before.bytes > this.quota) {
      return false;
    }
    stores.set(operation.store, after);
    this.happened.partial += 1;
    return true;
  }

  #fail(one: Running): void {
    one.failure = FAILED(QUOTA);
    one.changed.clear();
    this.happened.quotaAborts += 1;
    if (this.kind === 'firefox') one.transaction.db.isCleanupDue = true;
  }

  #answer(one: Running): void {
    const { transaction } = one;
    const answer = transaction.answers.shift();
    if (answer === undefined) return;
    const { request, result, error } = answer;
    if (error === undefined) {
      request.result = result;
      request.dispatch(new HostileEvent('success', request));
      return;
    }
    this.#tellFailed(one, request, error);
    // The page can no longer abort after `commit()`.
    const isLeft = one.isBroken && transaction.isCommitAsked;
    if (!transaction.isFinished && !isLeft) this.#tellAborted(one, error);
  }

  /** Ends a transaction that failed after `commit()`. */
  #endBroken(one: Running): void {
    const { transaction } = one;
    if (one.endsComplete) {
      this.happened.falselyComplete += 1;
      transaction.isFinished = true;
      this.#remove(one);
      transaction.dispatch(new HostileEvent('complete', transaction));
    } else this.#tellAborted(one, FAILED('UnknownError'));
  }

  #commit(one: Running): void {
    const { transaction, changed } = one;
    if (this.lostCommit !== undefined && transaction.mode === 'readwrite') {
      const isMade = this.lostCommit === 'made';
      this.lostCommit = undefined;
      this.#lose(transaction.db, () => isMade);
      return;
    }
    const grows = [...changed].some(
      ([name, { bytes }]) => bytes > (transaction.db.stores.get(name)?.bytes ?? 0),
    );
    const isRefused = this.kind !== 'webkit' && !one.isCommitted && grows;
    if (isRefused && this.used + growthOf(one) > this.quota) {
      this.#fail(one);
      for (const answer of transaction.answers.splice(0)) {
        answer.request.result = answer.result;
        answer.request.dispatch(new HostileEvent('success', answer.request));
      }
      if (!transaction.isFinished) this.#tellAborted(one, one.failure ?? null);
      return;
    }
    for (const [name, records] of changed) transaction.db.stores.set(name, records);
    changed.clear();
    one.isCommitted = true;
    // After `commit()` answers may still be on their way.
    if (transaction.answers.length > 0) return;
    transaction.isFinished = true;
    this.#remove(one);
    transaction.dispatch(new HostileEvent('complete', transaction));
  }

  #tellFailed({ transaction }: Running, request: HostileRequest, error: DOMException): void {
    request.error = error;
    request.isDone = true;
    const event = new HostileEvent('error', request);
    request.dispatch(event, [transaction, transaction.db]);
    if (!event.isStopped) this.happened.heard += 1;
  }

  /** Reports to the page that everything is undone, true or not. */
  #tellAborted(one: Running, error: DOMException | null): void {
    const { transaction } = one;
    const isNull = this.kind === 'webkit' && transaction.isCommitAsked;
    transaction.error = isNull ? null : error;
    transaction.isFinished = true;
    this.#remove(one);
    const unanswered = [...transaction.answers.splice(0), ...transaction.operations.splice(0)];
    for (const { request } of unanswered) this.#tellFailed(one, request, FAILED('AbortError'));
    const event = new HostileEvent('abort', transaction);
    transaction.dispatch(event, [transaction.db]);
    if (!event.isStopped) this.happened.heard += 1;
  }

  #remove(one: Running): void {
    this.#running = this.#running.filter((other) => other !== one);
  }

  #loseOne(): void {
    if (this.#connections.size === 0) return;
    this.#lose(this.#from.pick([...this.#connections]), () => this.#from.below(2) === 0);
  }

  /** Loses a connection: a commit under way is made or not, and the page does not hear which. */
  #lose(database: HostileDatabase, isMade: () => boolean): void {
    this.happened.lostConnections += 1;
    for (const one of this.#running.filter(({ transaction }) => transaction.db === database)) {
      const { transaction, changed } = one;
      const isWhole = transaction.isCommitAsked && transaction.operations.length === 0;
      if (isWhole && one.failure === undefined && isMade()) {
        if (this.used + growthOf(one) <= this.quota) {
          for (const [name, records] of changed) database.stores.set(name, records);
        }
      }
      transaction.isFinished = true;
      this.#remove(one);
    }
    database.isClosed = true;
    this.#connections.delete(database);
    database.dispatch(new HostileEvent('close', database));
  }
}
