/** The connection of one page: its open calls, and the objects that it holds. */
import { HedgerowError } from '../../base/errors.js';
import type { Transaction } from '../../engine/transaction/transaction.js';
import type { Store } from '../../store/store.js';
import { toErrorPayload } from '../error-payload.js';
import { onEndOfLife } from '../liveness-lock.js';
import { MessageQueue, type Port } from '../message-queue.js';
import * as Tag from '../protocol.js';
import { ANSWERS, type CallContext } from './call-handlers.js';
import { LiveMirrors } from './mirrored-live-queries.js';
import { PageSource } from './page-source.js';
import { callMember, lastOf, refuseCall, type TableForms } from './replay-call-path.js';
import { toMessage } from './to-message.js';
import { UnfinishedCall } from './unfinished-call.js';

/** The parts that all connections of a worker share. */
export interface ConnectionHost {
  /** Opens the store, or returns the open one. */
  store(): Promise<Store>;
  tablesOf(db: Store): TableForms;
  /** Returns the name of the worker's lock. */
  life(): Promise<string | undefined>;
  readonly silentMs: number;
}

/** An object that the page holds. */
interface PageObject {
  readonly kind: Tag.HandleKind;
  readonly object: object;
  release?(): unknown;
  /** The error of an edit in a transaction, which no caller awaits. */
  fault?: { readonly cause: unknown };
}

/** Stands for an error that code of the page has thrown: the page has that error itself. */
const THROWN = new Error('code of the page has thrown');

export class PageConnection {
  readonly #shared: ConnectionHost;
  readonly #queue: MessageQueue;
  readonly #ended: () => void;
  readonly #held = new Map<number, PageObject>();
  readonly #calls = new Map<number, UnfinishedCall>();
  readonly #feeds = new Map<number, PageSource>();
  readonly #lives = new LiveMirrors();
  #tables: TableForms = new Map();
  #lastTarget = 0;
  #isOver = false;
  #hasHeard = false;
  #isAsked = false;
  readonly #timer: ReturnType<typeof setInterval>;
  #stopLife = () => {};

  /** Calls `ended` once. */
  constructor(port: Port, shared: ConnectionHost, ended: () => void) {
    this.#shared = shared;
    this.#ended = ended;
    this.#queue = new MessageQueue(port, ([, id], cause) => {
      this.#refuseUnclonable(Number(id), cause);
      return undefined;
    });
    this.#timer = setInterval(() => this.#ask(), shared.silentMs / 2);
    (this.#timer as { unref?(): void }).unref?.();
  }

  readonly #post: MessageQueue['post'] = (...message) => {
    if (!this.#isOver) this.#queue.post(...message);
  };

  /** Refuses a message that cannot be cloned. */
  #refuseUnclonable(id: number, cause: unknown): void {
    const message =
      'this cannot cross to the page: rows with functions, or with objects of classes';
    const error = new HedgerowError('invalid-argument/value', message, { cause });
    this.#end(id);
    this.#post([Tag.NO, id, toErrorPayload(error)]);
  }

  /** Asks whether the page answers: a frozen page must not hold objects for ever. */
  #ask(): void {
    if (this.#isAsked && !this.#hasHeard) {
      this.end('the page did not answer');
      return;
    }
    this.#isAsked = !this.#hasHeard;
    this.#hasHeard = false;
    if (this.#isAsked) this.#post([Tag.PING]);
  }

  /** Takes posted messages. Malformed ones do no harm to other pages. */
  receive(messages: unknown): void {
    this.#hasHeard = true;
    for (const message of Array.isArray(messages) ? messages : []) {
      if (this.#isOver) return;
      try {
        this.#take(message);
      } catch {
        // No page of this library sends that.
      }
    }
  }

  #take([tag, id, first, second, third]: readonly [tag: number, id: number, ...unknown[]]): void {
    const call = this.#calls.get(id);
    if (tag === Tag.HELLO) void this.#hello(id, first);
    else if (tag === Tag.CALL) void this.#call(id, first, second, third);
    else if (tag === Tag.ABORT) call?.abort();
    else if (tag === Tag.ACK) call?.acknowledgePart();
    else if (tag === Tag.TOLD) call?.settle(Number(first));
    else if (tag === Tag.RAN) call?.ran?.(first === true);
    else if (tag === Tag.STOP) this.#end(id);
    else if (tag === Tag.FEED) this.#feeds.get(id)?.take(first, second);
    else if (tag === Tag.SPOIL) this.#feeds.get(id)?.fail(THROWN);
    else if (tag === Tag.BYE) this.end();
  }

  async #hello(protocol: unknown, lock: unknown): Promise<void> {
    const { PROTOCOL } = Tag;
    try {
      if (protocol !== PROTOCOL) {
        const message = `the page speaks version ${protocol} to a worker of version ${PROTOCOL}`;
        throw new HedgerowError('unsupported', `${message}: load both from one release`);
      }
      const [db, life] = await Promise.all([this.#shared.store(), this.#shared.life()]);
      if (this.#isOver || this.#held.has(0)) return;
      this.#tables = this.#shared.tablesOf(db);
      this.#held.set(0, { kind: 'store', object: db });
      this.#stopLife = onEndOfLife(lock, () => this.end());
      this.#post([Tag.WELCOME, PROTOCOL, life, db.name, [...this.#tables.keys()]]);
    } catch (cause) {
      this.#post([Tag.REFUSED, PROTOCOL, toErrorPayload(cause)]);
    }
  }

  async #call(id: number, target: unknown, path: unknown, refs: unknown): Promise<void> {
    const tx = id === 0 ? this.#held.get(target as number) : undefined;
    const isEdit = tx?.kind === 'tx';
    const isNew = Number.isInteger(id) && id > 0 && !this.#calls.has(id) && !this.#held.has(id);
    if (!isEdit && !isNew) return;
    const call = new UnfinishedCall(id, this.#post);
    if (!isEdit) this.#calls.set(id, call);
    try {
      const held = this.#heldAt(target);
      if (!isEdit) this.#place(call, path as unknown[][], refs as Tag.ArgumentRef[]);
      const last = lastOf(held, path as Tag.Call[], this.#tables);
      // A call that goes on ends by its number, and edits have the number 0.
      if (isEdit && last.answer !== 'value') refuseCall(`${last.name} is no edit`);
      await ANSWERS[last.answer](last, call, this.#groundOf(call));
    } catch (cause) {
      if (isEdit) tx.fault ??= { cause };
      if (this.#calls.get(id) === call) {
        this.#end(id);
        this.#post([Tag.NO, id, toErrorPayload(cause)]);
      }
    }
  }

  #heldAt(number: unknown): PageObject {
    const held = this.#held.get(number as number);
    if (held !== undefined) return held;
    throw new HedgerowError('closed', 'this was released, or its transaction has ended');
  }

  #groundOf(call: UnfinishedCall): CallContext {
    const { id } = call;
    return {
      answerCall: (value) => {
        if (this.#calls.get(id) === call) {
          call.tellLast();
          const [crossing, errors] = toMessage(value);
          this.#post([Tag.OK, id, crossing, errors]);
          this.#end(id);
        }
      },
      hold: (kind, object, release) => {
        // The page may have gone, or may not want the object any more.
        if (call.isOver) void Promise.resolve(release()).catch(() => {});
        else this.#held.set(id, { kind, object, release });
      },
      run: (tx) => this.#run(call, tx),
      forget: (object) => {
        const found = [...this.#held].find(
          ([number, held]) => number > 0 && held.object === object,
        );
        if (found === undefined) refuseCall('a page closes its own connection only');
        this.#held.delete(found[0]);
      },
      patchOf: (given) => this.#patchOf(given),
      live: ({ object, args, isText }) => {
        const outlet = call.outlet((item) => !Array.isArray(item) || isText(item[0]));
        return this.#lives.begin(id, object, args, outlet, (patch) => call.tell(0, [patch], true));
      },
    };
  }

  /** Puts the objects of references in their places. */
  #place(call: UnfinishedCall, path: unknown[][], refs: readonly Tag.ArgumentRef[]): void {
    for (const [step, at, member, what, number] of refs) {
      const args = path[step];
      const isThere = Array.isArray(args) && Number.isInteger(at) && at > 0 && at < args.length;
      if (!isThere) refuseCall('there is no such argument');
      const value = this.#valueOf(call, member, what, number);
      if (member === undefined) args[at] = value;
      else Object.defineProperty(args[at], member, { value, enumerable: true });
    }
  }

  #valueOf(
    call: UnfinishedCall,
    member: string | undefined,
    what: Tag.ArgumentRef[3],
    number: number,
  ): unknown {
    if (what === 'signal') return call.signal;
    if (what === 'handle') return this.#heldAt(number).object;
    // A watch puts its own callback here.
    if (what === 'callback') return member === undefined ? () => {} : call.makeNotifier(number);
    if (this.#feeds.has(number)) refuseCall('a source has a number of its own');
    const fed = new PageSource(number, this.#post);
    this.#feeds.set(number, fed);
    call.sources.push(number);
    return fed;
  }

  /** Runs the function of a transaction, which is in the page. */
  async #run(call: UnfinishedCall, tx: Transaction): Promise<void> {
    this.#lastTarget -= 1;
    const target = this.#lastTarget;
    const held: PageObject = { kind: 'tx', object: tx };
    this.#held.set(target, held);
    try {
      const isDone = await new Promise<boolean>((resolve) => {
        call.ran = resolve;
        if (call.isOver) resolve(false);
        else this.#post([Tag.RUN, call.id, target]);
      });
      if (!isDone) throw THROWN;
      if (held.fault !== undefined) throw held.fault.cause;
    } finally {
      this.#held.delete(target);
    }
  }

  #patchOf(given: unknown): unknown {
    const db = this.#held.get(0)?.object as unknown as Record<string, { readonly op: object }>;
    const toTableOperation = (one: unknown): unknown => {
      const { op, table, row, key } = Object(one) as Record<string, unknown>;
      if (!this.#tables.has(table as string)) return one;
      const { op: ops } = db[table as string] as { readonly op: object };
      return op === 'put' ? callMember(ops, 'put', [row]) : callMember(ops, 'delete', [key]);
    };
    if (Array.isArray(given)) return given.map(toTableOperation);
    return given instanceof PageSource ? mapMembers(given, toTableOperation) : given;
  }

  /** Ends a call, or releases the object that the page holds under this number. */
  #end(id: number): void {
    const call = this.#calls.get(id);
    if (call === undefined) {
      const held = id > 0 ? this.#held.get(id) : undefined;
      this.#held.delete(held === undefined ? Number.NaN : id);
      void Promise.resolve(held?.release?.()).catch(() => {});
      return;
    }
    this.#calls.delete(id);
    call.end();
    for (const number of call.sources) this.#feeds.delete(number);
    this.#lives.delete(id);
  }

  /** Ends the connection; sends the page the reason `why`, unless the page itself has gone. */
  end(why?: string): void {
    if (this.#isOver) return;
    const gone = new HedgerowError(
      'unavailable/disconnected',
      `${why ?? 'the page has gone'}: connect again`,
    );
    if (why !== undefined) this.#post([Tag.REFUSED, Tag.PROTOCOL, toErrorPayload(gone)]);
    this.#queue.flush();
    this.#isOver = true;
    clearInterval(this.#timer);
    this.#stopLife();
    for (const fed of this.#feeds.values()) fed.fail(gone);
    for (const [id, call] of [...this.#calls]) {
      call.abort(gone);
      this.#end(id);
    }
    this.#held.delete(0);
    for (const id of [...this.#held.keys()]) this.#end(id);
    this.#ended();
  }
}

async function* mapMembers(
  members: PageSource,
  mapMember: (one: unknown) => unknown,
): AsyncGenerator<unknown> {
  for await (const one of members) yield mapMember(one);
}
