import * as Reply from '../base/abi/reply.js';
import * as Status from '../base/abi/status.js';
import type { EncodedRange } from '../base/range.js';
import type { Engine, Op } from './engine.js';
import type { LaterOutput } from './generated/exports.js';
import type { Host, Runner } from './host.js';
import { laterCore } from './later-link.js';

/** What speaks with the instance that works now. */
export async function checkEngine(host: Host): Promise<CheckEngine> {
  return new CheckEngine(host.engine, await laterCore(host));
}

/**
 * Speaks with the part of the core that makes and verifies proofs, verifies what is stored, and takes
 * the census. It is loaded when it is first needed: see `crate/src/wasm/checks.rs`.
 */
export class CheckEngine implements Runner {
  readonly #engine: Engine;
  readonly #core: LaterOutput;
  readonly #epoch: number;

  constructor(engine: Engine, core: LaterOutput) {
    this.#engine = engine;
    this.#core = core;
    this.#epoch = engine.epoch;
  }

  /** Passes a range and the root after it; throws when another instance works by now. */
  #pass(rangeBytes: Uint8Array, commitBytes: Uint8Array): void {
    this.#engine.own(this.#epoch);
    this.#engine.pass(new Uint8Array([...rangeBytes, ...commitBytes]));
  }

  /** Starts a proof of an encoded range under a commit. */
  prove(commitBytes: Uint8Array, { flags, rangeBytes }: EncodedRange): Op {
    this.#pass(rangeBytes, commitBytes);
    return this.#engine.given(this.#core.check_prove(flags, rangeBytes.length));
  }

  /** Starts to verify a proof of an encoded range under a commit. */
  verifyProof(
    commitBytes: Uint8Array,
    { flags, rangeBytes }: EncodedRange,
    proofBytes: Uint8Array,
  ): Op {
    this.#pass(rangeBytes, commitBytes);
    this.#engine.incoming(proofBytes);
    return this.#engine.given(this.#core.check_verify_proof(flags, rangeBytes.length));
  }

  /** Starts a census of the tree of rows. */
  census(view: number): Op {
    return this.#engine.given(this.#core.check_census(this.#engine.own(view)));
  }

  /** Starts a verification of the tree of rows, or of the nth index; see `verify/verify.ts`. */
  verify(view: number, nth = 0): Op {
    return this.#engine.given(this.#core.check_verify(this.#engine.own(view), nth));
  }

  /** Starts to check that the nth index is what its rows make; see `verify/index-check.ts`. */
  checkIndex(view: number, nth: number, randomBytes: Uint8Array): Op | undefined {
    this.#engine.pass(randomBytes);
    const op = this.#core.check_index(this.#engine.own(view), nth);
    return op >>> 0 === Status.noOp ? undefined : this.#engine.given(op);
  }

  /** Goes on with one of them for about `budget` bytes of work. */
  step(op: Op, budget: number): number {
    return this.#core.check_step(this.#engine.own(op), Math.min(budget, 0x7fff_ffff));
  }

  /** The segments that a verification will want next. Overwrites the reply of its last step. */
  ahead(op: Op): number[] {
    const status = this.#core.check_ahead(this.#engine.own(op));
    return status === Status.need ? this.#engine.needed() : [];
  }

  /** Frees one of them, if its instance has not done so by a trap. */
  free(op: Op): void {
    if (op >= this.#engine.epoch) this.#core.check_free(this.#engine.own(op));
  }

  /** What a verification of a tree has found sound so far. */
  tally(): { rows: number; nodes: number; values: number; bytes: number } {
    return {
      rows: this.#engine.word(Reply.tallyRows),
      nodes: this.#engine.word(Reply.tallyNodes),
      values: this.#engine.word(Reply.tallyValues),
      bytes: this.#engine.word(Reply.tallyBytes),
    };
  }

  /** The root of the index that was checked, when it is not what its rows make. */
  wrongIndex(): Uint8Array | undefined {
    if (this.#engine.word(Reply.indexCheckedIsSame) === 1) return undefined;
    return this.#engine.hash(Reply.indexCheckedRoot);
  }

  /** The proof that was made. */
  proof(): Uint8Array {
    return this.#engine.replyBytes();
  }
}
