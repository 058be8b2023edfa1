import * as Reply from '../../base/abi/reply.js';
import * as Status from '../../base/abi/status.js';
import type { EncodedRange } from '../../base/range.js';
import type { SegmentRequest } from '../../storage/segment-store.js';
import type { Engine, Op } from '../engine.js';
import type { LaterOutput } from '../generated/exports.js';
import { laterCore } from '../link-on-demand-core.js';
import type { Host, Runner } from '../operation-host.js';

/** Returns the calls of the later part, for the current instance. */
export async function verificationCalls(host: Host): Promise<VerificationCalls> {
  return new VerificationCalls(host.engine, await laterCore(host));
}

/**
 * The calls to the later part of the core that make and verify proofs, verify the store, and take the census. That part
 * is loaded at its first use; see `crate/src/wasm/checks.rs`.
 */
export class VerificationCalls implements Runner {
  readonly #engine: Engine;
  readonly #core: LaterOutput;
  readonly #epoch: number;

  constructor(engine: Engine, core: LaterOutput) {
    this.#engine = engine;
    this.#core = core;
    this.#epoch = engine.epoch;
  }

  /** Passes a range and the root after it. Throws if the instance has trapped. */
  #pass(rangeBytes: Uint8Array, commitBytes: Uint8Array): void {
    this.#engine.own(this.#epoch);
    this.#engine.pass(new Uint8Array([...rangeBytes, ...commitBytes]));
  }

  /** Starts a proof of an encoded range under a commit. */
  prove(commitBytes: Uint8Array, { flags, rangeBytes }: EncodedRange): Op {
    this.#pass(rangeBytes, commitBytes);
    return this.#engine.toHandle(this.#core.check_prove(flags, rangeBytes.length));
  }

  /** Starts to verify a proof of an encoded range under a commit. */
  verifyProof(
    commitBytes: Uint8Array,
    { flags, rangeBytes }: EncodedRange,
    proofBytes: Uint8Array,
  ): Op {
    this.#pass(rangeBytes, commitBytes);
    this.#engine.incoming(proofBytes);
    return this.#engine.toHandle(this.#core.check_verify_proof(flags, rangeBytes.length));
  }

  /** Starts a census of the tree of rows. */
  census(view: number): Op {
    return this.#engine.toHandle(this.#core.check_census(this.#engine.own(view)));
  }

  /** Starts a verification of the tree of rows, or of the nth index; see `engine/verify/verify-commit.ts`. */
  verify(view: number, nth = 0): Op {
    return this.#engine.toHandle(this.#core.check_verify(this.#engine.own(view), nth));
  }

  /** Starts to check the nth index against its rows; see `engine/verify/index-check.ts`. */
  checkIndex(view: number, nth: number, randomBytes: Uint8Array): Op | undefined {
    this.#engine.pass(randomBytes);
    const op = this.#core.check_index(this.#engine.own(view), nth);
    return op >>> 0 === Status.noOp ? undefined : this.#engine.toHandle(op);
  }

  /** Continues an operation for about `budget` bytes of work. */
  step(op: Op, budget: number): number {
    return this.#core.check_step(this.#engine.own(op), Math.min(budget, 0x7fff_ffff));
  }

  /** Returns what a verification will need next. Overwrites the reply to its last step. */
  ahead(op: Op): SegmentRequest[] {
    const status = this.#core.check_ahead(this.#engine.own(op));
    return status === Status.need ? this.#engine.readNeededParts() : [];
  }

  /** Frees an operation, unless its instance has trapped. */
  free(op: Op): void {
    if (op >= this.#engine.epoch) this.#core.check_free(this.#engine.own(op));
  }

  /** Counts what a verification has found intact so far. */
  tally(): { rows: number; nodes: number; values: number; bytes: number; remoteRows: number } {
    return {
      rows: this.#engine.word(Reply.tallyRows),
      nodes: this.#engine.word(Reply.tallyNodes),
      values: this.#engine.word(Reply.tallyValues),
      bytes: this.#engine.word(Reply.tallyBytes),
      remoteRows: this.#engine.word(Reply.tallyRemoteRows),
    };
  }

  /** Returns the root of the checked index if it does not match its rows; otherwise `undefined`. */
  wrongIndex(): Uint8Array | undefined {
    if (this.#engine.word(Reply.indexCheckedIsSame) === 1) return undefined;
    return this.#engine.hash(Reply.indexCheckedRoot);
  }

  /** Returns the proof in the last reply. */
  proof(): Uint8Array {
    return this.#engine.replyBytes();
  }
}
