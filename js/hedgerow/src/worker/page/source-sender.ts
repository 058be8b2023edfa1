/** Sends the members of a source in the page as the worker asks for them: neither side has many in memory. */

import { partsOf, streamIterator } from '../../base/byte-source.js';
import { HedgerowError } from '../../base/errors.js';
import { isBuffer, isByteArray } from '../../base/is-byte-array.js';
import { weigh } from '../estimate-message-cost.js';
import type { MessageQueue } from '../message-queue.js';
import { FEED, PART_BYTES, PART_MEMBERS, SPOIL } from '../protocol.js';
import { trimBuffer } from '../trim-buffer.js';
import { copyValue, toSendable } from './sendable-copy.js';

/** Milliseconds for which a part is gathered: a source must not hold up the page. */
const PART_MS = 4;
/** The most bytes of a part of bytes, which are transferred. */
const MOST_BYTES = 256 << 10;

const isBytes = (value: unknown) => isByteArray(value);

type Next = IteratorResult<unknown> & { readonly then?: unknown };
type Members = { next(): unknown; return?(): unknown };

/** An argument that is read member by member. */
export class ArgumentSource {
  readonly members: unknown;
  /** Members, or bytes, in all; `undefined` if unknown. */
  total: number | undefined;
  /** Members, or bytes, that were sent. */
  sent = 0;

  readonly #keyOf: ((row: unknown) => unknown) | undefined;

  /** With `keyOf` its members become entries. */
  constructor(members: unknown, keyOf?: (row: unknown) => unknown) {
    this.members = members;
    this.#keyOf = keyOf;
    const { length, size } = members as { readonly length?: number; readonly size?: number };
    this.total = length ?? size;
  }

  /** Returns a member as it is sent. */
  prepareMember(member: unknown): unknown {
    const made = this.#keyOf ? [this.#keyOf(member), member] : member;
    if (!Array.isArray(made) || !made.some(isBytes)) return toSendable(made);
    return made.map((one) => (isBytes(one) ? trimBuffer(one) : one));
  }

  open(): Members {
    const { members } = this;
    const bytes = partsOf(members);
    if (bytes !== undefined) {
      this.total = bytes.total;
      return bytes.parts;
    }
    if (typeof ReadableStream !== 'undefined' && members instanceof ReadableStream)
      return streamIterator(members);
    const list = members as AsyncIterable<unknown> & Iterable<unknown>;
    return list[Symbol.asyncIterator]?.() ?? list[Symbol.iterator]();
  }
}

export class SourceSender {
  readonly #source: ArgumentSource;
  readonly #number: number;
  readonly #queue: MessageQueue;
  readonly #failed: (cause: unknown) => void;
  #members: Members | undefined;
  /** Bytes of the last member that were not sent yet. */
  #rest: Uint8Array | undefined;
  #feeding = Promise.resolve();
  #isOver = false;

  constructor(
    source: ArgumentSource,
    number: number,
    queue: MessageQueue,
    failed: (cause: unknown) => void,
  ) {
    this.#source = source;
    this.#number = number;
    this.#queue = queue;
    this.#failed = failed;
  }

  /** Sends one part. */
  pull(): void {
    this.#feeding = this.#feeding
      .then(() => this.#feed())
      .catch((cause) => {
        // An iterator that has failed gets no call of `return`.
        this.#isOver = true;
        this.fail(cause);
      });
  }

  async #feed(): Promise<void> {
    const members: unknown[] = [];
    const transfer: Transferable[] = [];
    const endMs = performance.now() + PART_MS;
    let bytes = 0;
    let isLast = false;
    while (bytes < PART_BYTES && members.length < PART_MEMBERS && !isLast && !this.#isOver) {
      if (members.length > 0 && performance.now() > endMs) break;
      let value: unknown = this.#rest;
      if (value === undefined) {
        this.#members ??= this.#source.open();
        const next = this.#members.next() as Next;
        const given = typeof next.then === 'function' ? await next : next;
        isLast = given.done === true;
        if (isLast) break;
        value = given.value;
      }
      if (isBuffer(value)) value = new Uint8Array(value);
      if (isByteArray(value)) {
        // A copy is transferred: the caller keeps its bytes.
        const part = value.slice(0, MOST_BYTES);
        this.#rest = part.length < value.length ? value.subarray(MOST_BYTES) : undefined;
        transfer.push(part.buffer);
        bytes += part.length;
        this.#source.sent += part.length;
        value = part;
      } else {
        value = this.#source.prepareMember(value);
        bytes += weigh(value, PART_BYTES);
        this.#source.sent += 1;
      }
      members.push(value);
    }
    if (this.#isOver) return;
    this.#isOver = isLast;
    this.#queue.post([FEED, this.#number, members, isLast], bytes, transfer);
  }

  /**
   * Copies members that a message cannot clone, such as proxies. Returns `undefined`, and fails the source, if a member
   * has no copy.
   */
  copies(members: readonly unknown[]): unknown[] | undefined {
    const made: unknown[] = [];
    try {
      for (const member of members) made.push(copyValue(member));
      return made;
    } catch (cause) {
      const row = this.#source.sent - members.length + made.length;
      const { message, pointer } = cause as HedgerowError;
      this.fail(
        new HedgerowError('invalid-argument/value', `row ${row}: ${message}`, {
          row,
          pointer,
          cause,
        }),
      );
      return undefined;
    }
  }

  fail(cause: unknown): void {
    this.#failed(cause);
    this.#queue.post([SPOIL, this.#number]);
    this.end();
  }

  /** Ends the source: the worker wants no more of it. */
  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    void Promise.resolve()
      .then(() => this.#members?.return?.())
      .catch(() => {});
  }
}
