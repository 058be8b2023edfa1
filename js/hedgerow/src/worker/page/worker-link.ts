/** The connection of a page to the worker that has its store. */

import { report } from '../../base/call-callback-safely.js';
import { HedgerowError } from '../../base/errors.js';
import { UnawaitedCalls } from '../../base/unawaited-calls.js';
import { type ErrorPayload, errorOf } from '../error-payload.js';
import type { ErrorAt } from '../host/to-message.js';
import { holdLife, onEndOfLife } from '../liveness-lock.js';
import { MessageQueue, type Port } from '../message-queue.js';
import * as Tag from '../protocol.js';
import { copyCalls, extractRefs } from './argument-references.js';
import { SourceSender } from './source-sender.js';

/** Handlers of the answers to a call. */
export interface PendingReply {
  ok?(value: unknown): void;
  no?(error: unknown): void;
  /** Takes some members of a list, and calls `taken` when more may come. */
  part?(members: unknown[], taken: () => void): void;
  /**
   * Of a watch: returns the arguments of the callback. With `hasParts`, the first one is a list that has come in parts.
   */
  receiveArgs?(args: unknown[], hasParts: boolean): unknown;
  /** Runs the function of a transaction with the object of this number. */
  run?(target: number): Promise<unknown>;
}

interface Call {
  readonly pending: PendingReply;
  readonly callbacks: ((...args: never[]) => unknown)[];
  readonly feeders: number[];
  /** The error of code of the page, with which the call rejects. */
  fault: { readonly cause: unknown } | undefined;
  signal: AbortSignal | undefined;
  stop(): void;
}

/** Returns the number of the object that a handle of a connection stands for, `undefined` for other values. */
type NumberOf = (value: unknown, link: WorkerLink) => number | undefined;

const ENDED = new UnawaitedCalls();
ENDED.end();

const createDisconnectError = (why: string) =>
  new HedgerowError('unavailable/disconnected', `${why}: connect again`);

/** Puts errors back in their places. */
function restoreErrors(value: unknown, errors: readonly ErrorAt[]): unknown {
  const top: unknown[] = [value];
  for (const [path, told] of errors) {
    const names = [0, ...path];
    const last = names.pop() as string;
    let at = top as unknown as Record<string, unknown>;
    for (const name of names) at = at[name] as Record<string, unknown>;
    at[last] = errorOf(told);
  }
  return top[0];
}

export class WorkerLink {
  readonly #numberOf: NumberOf;
  readonly #queue: MessageQueue;
  readonly #calls = new Map<number, Call>();
  readonly #feeders = new Map<number, SourceSender>();
  /** The transactions whose functions run, by their numbers. */
  readonly #running = new Map<number, UnawaitedCalls>();
  #last = 0;
  #failure: HedgerowError | undefined;
  #welcome: (told: readonly unknown[]) => void = () => {};
  #refuse: (cause: unknown) => void = () => {};
  #endLife = () => {};
  #stopLife = () => {};
  readonly #close: () => void;

  constructor(port: Port, close: () => void, numberOf: NumberOf) {
    this.#close = close;
    this.#numberOf = numberOf;
    // Calls are copied before: only parts of sources come here.
    this.#queue = new MessageQueue(port, ([tag, id, members, ...rest]) => {
      const copies = this.#feeders.get(id as number)?.copies(members as unknown[]);
      return copies && [tag, id, copies, ...rest];
    });
  }

  /** Introduces the page; resolves to the names of the store and its tables. */
  async begin(): Promise<readonly [name: string, tables: readonly string[]]> {
    const life = await holdLife();
    this.#endLife = () => life?.end();
    // The connection may have failed in the meantime.
    if (this.#failure !== undefined) this.#endLife();
    const welcome = new Promise<readonly unknown[]>((resolve, reject) => {
      this.#welcome = resolve;
      this.#refuse = reject;
    });
    if (this.#failure !== undefined) this.#refuse(this.#failure);
    this.#queue.post([Tag.HELLO, Tag.PROTOCOL, life?.name]);
    const [, lock, name, tables] = await welcome;
    this.#stopLife = onEndOfLife(lock, () => this.lose('the worker has ended'));
    return [name as string, tables as readonly string[]];
  }

  lose(why: string): void {
    this.fail(createDisconnectError(why));
  }

  /** Ends the connection: open calls and later ones reject with `error`. */
  fail(error: HedgerowError): void {
    if (this.#failure !== undefined) return;
    this.#failure = error;
    this.#queue.post([Tag.BYE]);
    this.#queue.flush();
    this.#stopLife();
    this.#endLife();
    this.#refuse(error);
    for (const id of [...this.#calls.keys()]) this.#settleCall(id)?.no?.(error);
    this.#close();
  }

  /** Makes calls on the object with the number `target`. Returns the number of the call. */
  call(target: number, calls: readonly Tag.Call[], pending: PendingReply): number {
    const id = ++this.#last;
    const call: Call = {
      pending,
      callbacks: [],
      feeders: [],
      fault: undefined,
      signal: undefined,
      stop: () => {},
    };
    const isWatch = pending.receiveArgs !== undefined;
    const [path, refs] = extractRefs(calls, isWatch, {
      handle: (value) => this.#numberOf(value, this),
      callback: (callback) => call.callbacks.push(callback) - 1,
      signal: (signal) => {
        call.signal = signal;
      },
      source: (source) => {
        const number = ++this.#last;
        const recordFault = (cause: unknown) => {
          call.fault ??= { cause };
        };
        this.#feeders.set(number, new SourceSender(source, number, this.#queue, recordFault));
        call.feeders.push(number);
        return number;
      },
    });
    this.#calls.set(id, call);
    try {
      if (this.#failure !== undefined) throw this.#failure;
      this.#queue.post([Tag.CALL, id, target, copyCalls(path), refs]);
    } catch (cause) {
      this.#settleCall(id)?.no?.(cause);
      return id;
    }
    const { signal } = call;
    if (signal === undefined) return id;
    const abort = () => (isWatch ? this.stop(id) : this.#queue.post([Tag.ABORT, id]));
    signal.addEventListener('abort', abort);
    call.stop = () => signal.removeEventListener('abort', abort);
    if (signal.aborted) abort();
    return id;
  }

  /** Makes an edit of a transaction, which rejects if the store refuses the edit. */
  edit(target: number, calls: readonly Tag.Call[]): void {
    if (this.#failure !== undefined) throw this.#failure;
    const running = this.#running.get(target) ?? ENDED;
    running.check();
    this.#queue.post([Tag.CALL, 0, target, copyCalls(calls), []]);
  }

  /** Returns the calls of a transaction's function; `undefined` if no function runs for `target`. */
  callsOf(target: number): UnawaitedCalls | undefined {
    return this.#running.get(target);
  }

  /** Ends a call, or releases the object that it has given. */
  stop(id: number): void {
    this.#settleCall(id);
    if (this.#failure === undefined) this.#queue.post([Tag.STOP, id]);
  }

  #settleCall(id: number): PendingReply | undefined {
    const call = this.#calls.get(id);
    if (call === undefined) return undefined;
    this.#calls.delete(id);
    call.stop();
    for (const number of call.feeders) {
      this.#feeders.get(number)?.end();
      this.#feeders.delete(number);
    }
    return call.pending;
  }

  /** Takes posted messages. */
  receive(messages: unknown): void {
    for (const message of Array.isArray(messages) ? messages : []) this.#take(message);
  }

  #take(message: readonly [tag: number, id: number, ...rest: unknown[]]): void {
    const [tag, id, first, second, third] = message;
    const call = this.#calls.get(id);
    if (tag === Tag.WELCOME) this.#welcome(message.slice(1));
    else if (tag === Tag.REFUSED) this.fail(errorOf(first as ErrorPayload) as HedgerowError);
    else if (tag === Tag.PING) this.#queue.post([Tag.PONG]);
    else if (tag === Tag.PULL) this.#feeders.get(id)?.pull();
    else if (tag === Tag.CEASE) this.#feeders.get(id)?.end();
    if (call === undefined) return;
    const { pending } = call;
    if (tag === Tag.OK) this.#settleCall(id)?.ok?.(restoreErrors(first, second as ErrorAt[]));
    else if (tag === Tag.NO) this.#settleCall(id)?.no?.(this.#errorOf(call, first as ErrorPayload));
    else if (tag === Tag.PART) {
      const members = typeof first === 'string' ? JSON.parse(first) : first;
      pending.part?.(members, () => this.#queue.post([Tag.ACK, id]));
    } else if (tag === Tag.TELL) {
      const args = restoreErrors(second, third as ErrorAt[]) as unknown[];
      void this.#runCallback(id, call, first as number, args, message[5] === true);
    } else if (tag === Tag.RUN) void this.#run(id, call, first as number);
  }

  #errorOf({ fault, signal }: Call, told: ErrorPayload): unknown {
    if (fault !== undefined) return fault.cause;
    const error = errorOf(told);
    const isAborted = signal?.aborted === true && (error as HedgerowError).code === 'aborted';
    return isAborted
      ? new HedgerowError('aborted', error.message, { cause: signal.reason })
      : error;
  }

  async #runCallback(
    id: number,
    { pending, callbacks }: Call,
    which: number,
    args: unknown[],
    hasParts: boolean,
  ): Promise<void> {
    const given = which === 0 && pending.receiveArgs ? pending.receiveArgs(args, hasParts) : args;
    try {
      await callbacks[which]?.(...(given as never[]));
    } catch (cause) {
      report(cause);
    }
    this.#queue.post([Tag.TOLD, id, which]);
  }

  async #run(id: number, call: Call, target: number): Promise<void> {
    call.fault = undefined;
    const calls = new UnawaitedCalls();
    this.#running.set(target, calls);
    try {
      await calls.result(() => call.pending.run?.(target));
    } catch (cause) {
      call.fault = { cause };
    }
    this.#running.delete(target);
    this.#queue.post([Tag.RAN, id, call.fault === undefined]);
  }
}
