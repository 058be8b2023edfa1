import * as Reply from '../../base/abi/reply.js';
import * as Status from '../../base/abi/status.js';
import { describeMalformedChunk } from '../../base/chunk-fault-texts.js';
import { HedgerowError } from '../../base/errors.js';
import type { Engine, Op } from '../engine.js';
import type { LaterOutput } from '../generated/exports.js';
import { laterCore } from '../link-on-demand-core.js';
import type { Host } from '../operation-host.js';
import { failWrite } from '../write-errors.js';

/** The tree of rows of a commit. Equal rows have equal trees, whatever indexes and sum trees the commit has. */
export interface RowsRoot {
  /** The hash of its top node; 32 zero bytes without rows. */
  readonly rootBytes: Uint8Array;
  /** The number of its rows. */
  readonly count: number;
}

/** Returns the calls of the later part, for the current instance. */
export async function deltaCalls(host: Host): Promise<DeltaCalls> {
  return new DeltaCalls(host.engine, await laterCore(host));
}

/**
 * The calls to the later part of the core that make and apply deltas. That part is loaded at its first use; see
 * `crate/src/wasm/remote.rs`.
 */
export class DeltaCalls {
  readonly #engine: Engine;
  readonly #core: LaterOutput;
  readonly #epoch: number;

  constructor(engine: Engine, core: LaterOutput) {
    this.#engine = engine;
    this.#core = core;
    this.#epoch = engine.epoch;
  }

  #root(count: number): RowsRoot {
    return { rootBytes: this.#engine.replyBytes(), count };
  }

  /** Returns the root of the rows of a view. */
  rows(view: number): RowsRoot {
    return this.#root(this.#core.remote_rows(this.#engine.own(view)));
  }

  /** Returns the root of the rows that a finished ingest has made. */
  madeRows(ingest: Op): RowsRoot {
    return this.#root(this.#core.remote_made_rows(this.#engine.own(ingest)));
  }

  /** Starts to make the deltas between the rows of two views: see `remote_make`. */
  make(from: number, to: number, cutBytes: number, maxBytes: number): Op {
    const [old, now] = [this.#engine.own(from), this.#engine.own(to)];
    return this.#engine.toHandle(this.#core.remote_make(old, now, cutBytes, maxBytes));
  }

  /** Starts to apply a delta to an ingest. */
  apply(ingest: Op): Op {
    return this.#engine.toHandle(this.#core.remote_apply(this.#engine.own(ingest)));
  }

  /** Appends bytes to a delta that an ingest applies. */
  append(delta: Op, bytes: Uint8Array): void {
    const at = this.#core.remote_room(this.#engine.own(delta), bytes.length);
    this.#engine.memory.set(bytes, at);
  }

  /** Ends the bytes of a delta that an ingest applies. */
  end(delta: Op): void {
    this.#core.remote_end(this.#engine.own(delta));
  }

  /** Continues a delta for about `budget` bytes of work; throws the error of a status. */
  step(delta: Op, budget: number): number {
    const status = this.#core.remote_step(this.#engine.own(delta), Math.min(budget, 0x7fff_ffff));
    if (status === Status.malformed) throw this.#fault();
    return status >= Status.row ? failWrite(this.#engine, status) : status;
  }

  #fault(): HedgerowError {
    const word = (index: number) => this.#engine.word(index);
    const offset = word(Reply.chunkFaultOffset);
    const [expected, got] = [word(Reply.chunkFaultExpected), word(Reply.chunkFaultGot)];
    const what = describeMalformedChunk(word(Reply.chunkFaultField), offset, expected, got);
    return new HedgerowError('invalid-data/delta', `the delta is ${what}`, { offset });
  }

  /** Counts the edits of a delta so far, in the reply to a step that needed no segments. */
  edits(): number {
    return this.#engine.word(Reply.deltaEdits);
  }

  /** Returns the next bytes of a new delta, in the same reply; `undefined` if it has become too long. */
  bytes(): Uint8Array | undefined {
    return this.#engine.word(Reply.deltaIsTooLong) === 1 ? undefined : this.#engine.replyBytes();
  }

  /** Returns whether the delta has ended and another one follows, in the same reply. */
  hasEnded(): boolean {
    return this.#engine.word(Reply.deltaHasEnded) === 1;
  }

  /** Computes the BLAKE3 of bytes, in about 1 ms for each MiB. Throws after a trap of the instance. */
  hash(bytes: Uint8Array): Uint8Array {
    // The call takes no handle: an address from the dead instance would be used in the memory of the new one.
    this.#engine.own(this.#epoch);
    const at = this.#core.remote_object(bytes.length);
    this.#engine.memory.set(bytes, at);
    this.#core.remote_hash();
    return this.#engine.replyBytes();
  }

  /** Frees a delta, unless its instance has trapped. */
  free(delta: Op): void {
    if (delta < this.#engine.epoch) return;
    this.#engine.quietly(() => this.#core.remote_free(this.#engine.own(delta)));
  }
}
