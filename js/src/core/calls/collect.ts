/** Collections of segments. */
import * as Reply from '../../base/abi/reply.js';
import type { Engine, Op } from '../engine.js';

/** Starts a collection of what is stored now; `flags` are those of `base/abi/collect-flag.ts`. */
export function collect(engine: Engine, flags: number, valuesBefore: number): Op {
  return engine.given(engine.core.collect(flags, valuesBefore));
}

/** Has a collection take all for live that a commit reaches, or what is left of it if it may be gone. */
export function collectCommit(
  engine: Engine,
  op: Op,
  commitBytes: Uint8Array,
  mayBeGone = false,
): void {
  engine.pass(commitBytes);
  engine.core.collect_commit(engine.own(op), Number(mayBeGone));
}

/** Has a collection keep the segments from `from` to before `to`. */
export function collectKeep(engine: Engine, op: Op, from: number, to: number): void {
  engine.core.collect_keep(engine.own(op), from, to);
}

/** What a collection asked for is stored, and what it named is deleted. */
export function collectExchanged(engine: Engine, op: Op): void {
  engine.core.collect_exchanged(engine.own(op));
}

/** What a collection has come to: `values` only if they were counted. */
export function collected(engine: Engine): {
  segments: number[];
  liveBytes: number;
  valueBytes: number | undefined;
} {
  const isExact = engine.word(Reply.collectedIsExact) === 1;
  return {
    segments: engine.needed(),
    liveBytes: engine.word(Reply.collectedLiveBytes),
    valueBytes: isExact ? engine.word(Reply.collectedValueBytes) : undefined,
  };
}
