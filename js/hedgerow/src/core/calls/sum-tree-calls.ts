import * as FoundLeafAt from '../../base/abi/found-leaf.js';
import * as Reply from '../../base/abi/reply.js';
import * as Status from '../../base/abi/status.js';
import { HedgerowError } from '../../base/errors.js';
import { turn } from '../../base/slice-queue.js';
import type { Engine, Op } from '../engine.js';
import type { LaterOutput } from '../generated/exports.js';
import { laterCore } from '../link-on-demand-core.js';
import type { Host } from '../operation-host.js';
import { nameBytes } from '../sum-tree-definition.js';
import type { SumLeaf } from '../sum-tree-types.js';
import { failWrite } from '../write-errors.js';

/** The reasons of a sum tree to refuse a row. */
const REASONS: Readonly<Record<number, string>> = {
  [Status.sumKeyTwice]: 'another row has the same key there',
  [Status.sumNotWhole]: 'its sum is no whole number from 0 to 2^64 - 1',
  [Status.sumKeyNotText]: 'its key there holds half of a surrogate pair',
  [Status.sumValueTooLarge]:
    'its value there is larger than 1 MiB: let `value` point at a part of it',
};

const MAX_BUDGET = 0x7fff_ffff;

/** Bytes of work that a read may do in the turn of its caller. */
const QUICK_BUDGET = 64 << 10;

/** A leaf of an answer, and its place there. */
export interface FoundLeaf extends SumLeaf {
  /** For a search, the position of its key; for a diff, 0 for the old leaf and 1 for the new one. */
  readonly mark: number;
}

/** The counts of what a verification of a tree has found intact so far. */
export interface SumTally {
  readonly leaves: number;
  readonly pieces: number;
  readonly values: number;
}

const encoder = new TextEncoder();
const engines = new WeakMap<LaterOutput, SumTreeCalls>();

/** Returns the calls for sum trees, for the current instance. */
export async function sumTreeCalls(host: Host): Promise<SumTreeCalls> {
  const core = await laterCore(host);
  const known = engines.get(core);
  if (known !== undefined) return known;
  const sums = new SumTreeCalls(host, core);
  engines.set(core, sums);
  return sums;
}

/**
 * The calls to the later part of the core for sum trees. That part is loaded at its first use, and linked to the memory
 * of the current instance.
 */
export class SumTreeCalls {
  readonly #engine: Engine;
  readonly #core: LaterOutput;

  constructor(host: Host, core: LaterOutput) {
    const { engine, sums } = host;
    this.#engine = engine;
    this.#core = core;
    host.forgetSums = (op) => this.#forget(op);
    // After a trap, drop the reference to the instance: it would keep its memory.
    const end = engine.onTrap(() => {
      end();
      delete host.forgetSums;
    });
    for (const [at, [name, definition]] of [...(sums ?? [])].entries()) {
      const [nameLength, length] = this.#pass(name, encoder.encode(definition));
      if (core.sum_want(nameLength, length, at === 0 ? 1 : 0) >>> 0 === Status.noOp) {
        throw new HedgerowError(
          'invalid-argument',
          `the definition of the sum tree ${name} is malformed`,
        );
      }
    }
  }

  /** Passes the name of a tree, and bytes after it. */
  #pass(name: string, bytes: Uint8Array = new Uint8Array()): [number, number] {
    const start = nameBytes(name);
    const both = new Uint8Array(start.length + bytes.length);
    both.set(start);
    both.set(bytes, start.length);
    this.#engine.pass(both);
    return [start.length, both.length];
  }

  /** Throws the error of a status. */
  fail(status: number): never {
    if (status === Status.sumOverflow) {
      throw new HedgerowError(
        'invalid-argument/sum-overflow',
        'the sum of all leaves would not fit in 64 bits',
      );
    }
    const reason = REASONS[status];
    if (reason === undefined) return failWrite(this.#engine, status);
    const [tree, key] = this.#readRefusedRow();
    const message = `the sum tree ${JSON.stringify(tree)} refuses the row ${JSON.stringify(key)}: ${reason}`;
    throw new HedgerowError('invalid-argument/value', message, { key });
  }

  /** Reads the name of the tree and the key of the row in the reply to a refused update. */
  #readRefusedRow(): [tree: string, key: string] {
    const { memory } = this.#engine;
    const at = this.#engine.word(Reply.sumFaultName);
    const middle = this.#engine.word(Reply.sumFaultNameLength);
    const texts = memory.slice(at, at + middle + this.#engine.word(Reply.sumFaultKeyLength));
    const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
    return [decoder.decode(texts.subarray(0, middle)), decoder.decode(texts.subarray(middle))];
  }

  /** Adds edits, as `LeafPacker` packs them, to the commit of an ingest. */
  stage(op: Op, name: string, leafBytes: Uint8Array): void {
    this.#engine.incoming(leafBytes);
    const [nameLength] = this.#pass(name);
    const status = this.#core.sum_stage(this.#engine.own(op), nameLength);
    if (status >>> 0 === Status.noOp) {
      throw new HedgerowError('invalid-argument', 'the name of the sum tree is too long');
    }
    if (status !== Status.done) failWrite(this.#engine, status);
  }

  /** Makes an ingest build the trees that follow rows, even if it changes no row. */
  extend(op: Op): void {
    this.#core.sum_extend(this.#engine.own(op));
  }

  /** Makes an ingest drop a tree, without reading it. */
  drop(op: Op, name: string): void {
    const [nameLength] = this.#pass(name);
    this.#core.sum_drop(this.#engine.own(op), nameLength);
  }

  /**
   * Starts the sum update of an ingest; if `alone`, it also drops unwanted trees that follow rows. Returns its step
   * function, which takes a budget and returns a status.
   */
  begin(op: Op, alone: boolean): (budget: number) => number {
    const begun = this.#core.sum_begin(this.#engine.own(op), Number(alone));
    if (begun !== Status.done) {
      throw new HedgerowError(
        'invalid-argument',
        'the sum tree follows rows by now: change these instead',
      );
    }
    return (budget) => {
      const status = this.#core.sum_bring(this.#engine.own(op), Math.min(budget, MAX_BUDGET));
      if (status >= Status.row) this.fail(status);
      return status;
    };
  }

  /** Drops the staged edits and the new trees of an ingest. */
  #forget(op: Op): void {
    if (op < this.#engine.epoch) return;
    try {
      this.#core.sum_forget(this.#engine.own(op));
    } catch {
      // No caller waits for this call. After a trap the next call throws.
    }
  }

  /** Returns the names of the trees of a view. */
  names(view: number): string[] {
    this.#core.sum_names(this.#engine.own(view));
    return JSON.parse(new TextDecoder().decode(this.#engine.replyBytes()));
  }

  find(view: number, name: string, keyBytes: Uint8Array): Op {
    const [nameLength, length] = this.#pass(name, keyBytes);
    const op = this.#core.sum_find(this.#engine.own(view), nameLength, length);
    return this.#engine.toHandle(op);
  }

  scan(view: number, name: string, keyBytes: Uint8Array): Op {
    const [nameLength, length] = this.#pass(name, keyBytes);
    const op = this.#core.sum_scan(this.#engine.own(view), nameLength, length);
    return this.#engine.toHandle(op);
  }

  diff(from: number, to: number, name: string): Op {
    const [nameLength] = this.#pass(name);
    const { own } = { own: (view: number) => this.#engine.own(view) };
    return this.#engine.toHandle(this.#core.sum_diff(own(from), own(to), nameLength));
  }

  prove(view: number, name: string, keyBytes: Uint8Array, isMany: boolean): Op {
    const [nameLength, length] = this.#pass(name, keyBytes);
    const own = this.#engine.own(view);
    return this.#engine.toHandle(this.#core.sum_prove(own, nameLength, length, isMany ? 1 : 0));
  }

  /** Checks a whole tree; yields the numbers of leaves, pieces and long values found intact so far. */
  verify(host: Host, view: number, name: string): AsyncGenerator<SumTally, void, void> {
    const [nameLength] = this.#pass(name);
    const op = this.#engine.toHandle(this.#core.sum_verify(this.#engine.own(view), nameLength));
    return this.read(host, op, () => ({
      leaves: this.#engine.word(Reply.sumTallyLeaves),
      pieces: this.#engine.word(Reply.sumTallyPieces),
      values: this.#engine.word(Reply.sumTallyValues),
    }));
  }

  /**
   * Runs a read and frees it. Yields the result of `take` after each step with an answer, and at the end. Lets other
   * tasks run between steps.
   */
  async *read<T>(host: Host, op: Op, take: () => T): AsyncGenerator<T, void, void> {
    const run = (budget: number) =>
      this.#core.sum_step(this.#engine.own(op), Math.min(budget, MAX_BUDGET));
    try {
      let status = run(QUICK_BUDGET);
      for (;;) {
        if (status === Status.need) await host.load(this.#engine.readNeededParts());
        else if (status > Status.yield) this.fail(status);
        else {
          yield take();
          if (status === Status.done) return;
          await turn();
        }
        status = host.step(op, performance.now(), run);
      }
    } finally {
      if (op >= this.#engine.epoch) this.#core.sum_free(this.#engine.own(op));
    }
  }

  /** Reads the leaves of the last reply. */
  leaves(): FoundLeaf[] {
    const { memory } = this.#engine;
    const at = this.#engine.word(Reply.sumLeavesAddress);
    const values = this.#engine.word(Reply.sumLeavesValues);
    const length = this.#engine.word(Reply.sumLeavesCount) * FoundLeafAt.bytes;
    const all = new DataView(memory.buffer, at, length);
    const leaves: FoundLeaf[] = [];
    for (let start = 0; start < length; start += FoundLeafAt.bytes) {
      const word = (offset: number) => all.getUint32(start + offset, true);
      const keyAt = at + start + FoundLeafAt.key;
      leaves.push({
        key: memory.slice(keyAt, keyAt + 32),
        sum: all.getBigUint64(start + FoundLeafAt.sum, true),
        value: memory.slice(values + word(FoundLeafAt.start), values + word(FoundLeafAt.end)),
        mark: word(FoundLeafAt.mark),
      });
    }
    return leaves;
  }

  /** Copies the bytes in the last reply. */
  bytes(): Uint8Array {
    return this.#engine.replyBytes();
  }
}
