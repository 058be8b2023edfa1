import * as Reply from '../../base/abi/reply.js';
import * as Status from '../../base/abi/status.js';
import { concatBytes } from '../../base/bytes.js';
import { HedgerowError } from '../../base/errors.js';
import type { Engine, Op } from '../engine.js';
import type { LaterOutput } from '../generated/exports.js';
import { laterCore } from '../link-on-demand-core.js';
import type { Host } from '../operation-host.js';
import { fail } from '../status-errors.js';
import type { MadeSegment } from './segment-calls.js';

const NO_HASH = new Uint8Array(32);

/** A node as its parent describes it. */
export interface NodeAt {
  readonly hashBytes: Uint8Array;
  /** The last key in the node. */
  readonly lastKey: Uint8Array;
  /** The number of its rows. */
  readonly count: number;
}

/** Returns the calls of the later part, for the current instance. */
export async function lazyCloneCalls(host: Host): Promise<LazyCloneCalls> {
  return new LazyCloneCalls(host.engine, await laterCore(host));
}

/** The calls to the later part of the core for trees that are partly at a remote: see `crate/src/wasm/lazy.rs`. */
export class LazyCloneCalls {
  readonly #engine: Engine;
  readonly #core: LaterOutput;
  readonly #epoch: number;

  constructor(engine: Engine, core: LaterOutput) {
    this.#engine = engine;
    this.#core = core;
    this.#epoch = engine.epoch;
  }

  #give(bytes: Uint8Array): void {
    // The call takes no handle: an address from a dead instance would be used in the memory of the new one.
    this.#engine.own(this.#epoch);
    const at = this.#core.remote_lazy_room(bytes.length);
    this.#engine.memory.set(bytes, at);
  }

  #check(status: number, what: string): void {
    if (status !== Status.malformed) return;
    const offset = this.#engine.word(Reply.chunkFaultOffset);
    throw new HedgerowError('remote/data', `${what}, byte ${offset}: malformed`, { offset });
  }

  /** Starts to find the internal nodes of the rows at `to` that the rows at `from` do not have. */
  newNodes(from: number, to: number): Op {
    const [old, now] = [this.#engine.own(from), this.#engine.own(to)];
    return this.#engine.toHandle(this.#core.remote_nodes(old, now));
  }

  /** Continues to find nodes; throws the error of a status. */
  stepNodes(op: Op, budget: number): number {
    const own = this.#engine.own(op);
    const status = this.#core.remote_nodes_step(own, Math.min(budget, 0x7fff_ffff));
    return status >= Status.row ? fail(this.#engine, status) : status;
  }

  /** Returns the nodes that a step has found, unless it needed segments: the level and the record of each. */
  bytes(): Uint8Array {
    return this.#engine.replyBytes();
  }

  /** Makes segments of records of nodes that are at the remote. Take the segments then. */
  landNodes(recordsBytes: Uint8Array): void {
    this.#land(NO_HASH, recordsBytes, false);
  }

  /** Does the same for the top node with this hash and the nodes below it, each after the node that names it. */
  landTop(rootBytes: Uint8Array, recordsBytes: Uint8Array): void {
    this.#land(rootBytes, recordsBytes, false);
  }

  /** Does the same for all nodes, including nodes that are here. */
  landAgain(recordsBytes: Uint8Array): void {
    this.#land(NO_HASH, recordsBytes, true);
  }

  #land(rootBytes: Uint8Array, recordsBytes: Uint8Array, isAgain: boolean): void {
    this.#give(concatBytes([rootBytes, recordsBytes]));
    this.#check(this.#core.remote_land_nodes(Number(isAgain)), 'nodes');
  }

  /** Starts to make nodes of rows. */
  leaves(): Op {
    return this.#engine.toHandle(this.#core.remote_leaves());
  }

  /** Adds a delta to the rows. */
  add(op: Op, deltaBytes: Uint8Array): void {
    const own = this.#engine.own(op);
    this.#give(deltaBytes);
    this.#check(this.#core.remote_leaves_add(own), 'pack');
  }

  /** Sorts the rows, after the last delta. */
  sort(op: Op): void {
    this.#core.remote_leaves_sort(this.#engine.own(op));
  }

  /** Makes a node, and all nodes below it; returns `false` if the rows do not make it. */
  make(op: Op, { hashBytes, lastKey, count }: NodeAt): boolean {
    const own = this.#engine.own(op);
    this.#give(concatBytes([hashBytes, lastKey]));
    return this.#core.remote_leaves_make(own, count) === 1;
  }

  /** Makes the parts of the large value of a key; returns `false` if no part has this hash. */
  makeValue(op: Op, hashBytes: Uint8Array, key: Uint8Array): boolean {
    const own = this.#engine.own(op);
    this.#give(concatBytes([hashBytes, key]));
    return this.#core.remote_leaves_value(own) === 1;
  }

  /** Ends a walk, or the making of nodes; take the segments of the nodes then. */
  free(op: Op): void {
    if (op < this.#engine.epoch) return;
    this.#engine.quietly(() => this.#core.remote_lazy_free(this.#engine.own(op)));
  }

  /** Makes a commit of only a tree of rows; returns its hash. Take its segment then. */
  commit(rootBytes: Uint8Array, count: number): Uint8Array {
    this.#give(rootBytes);
    this.#core.remote_lazy_commit(count);
    return this.#engine.replyBytes();
  }

  /** Takes all new segments. */
  take(): MadeSegment[] {
    this.#engine.own(this.#epoch);
    const made: MadeSegment[] = [];
    while (this.#core.remote_lazy_take() === Status.segment) {
      made.push({
        id: this.#engine.word(Reply.segmentId),
        segmentBytes: this.#engine.copy(Reply.segmentAddress, Reply.segmentLength),
        tableBytes: this.#engine.copy(Reply.segmentTable, Reply.segmentTableLength),
      });
    }
    return made;
  }
}
