/** Calls for collections of segments. */
import * as Reply from '../../base/abi/reply.js';
import type { Engine, Op } from '../engine.js';

/** Starts a collection of the segments known now; `base/abi/collect-flag.ts` has the `flags`. */
export function startCollection(engine: Engine, flags: number, valuesBefore: number): Op {
  return engine.toHandle(engine.core.collect(flags, valuesBefore));
}

/** Marks all chunks that a commit reaches as live. If it `mayBeGone`, marks the rest of it. */
export function collectCommit(
  engine: Engine,
  op: Op,
  commitBytes: Uint8Array,
  mayBeGone = false,
): void {
  engine.pass(commitBytes);
  engine.core.collect_commit(engine.own(op), Number(mayBeGone));
}

/** Makes a collection keep the segments from `from` up to, but not including, `to`. */
export function collectKeep(engine: Engine, op: Op, from: number, to: number): void {
  engine.core.collect_keep(engine.own(op), from, to);
}

/** Confirms to a collection that its new segments are stored, and the old ones deleted. */
export function collectExchanged(engine: Engine, op: Op): void {
  engine.core.collect_exchanged(engine.own(op));
}

/** Reads the reply of a collection; `valueBytes` only if it counted values. */
export function readCollectReply(engine: Engine): {
  segments: number[];
  liveBytes: number;
  valueBytes: number | undefined;
} {
  const isExact = engine.word(Reply.collectedIsExact) === 1;
  return {
    segments: engine.numbers(),
    liveBytes: engine.word(Reply.collectedLiveBytes),
    valueBytes: isExact ? engine.word(Reply.collectedValueBytes) : undefined,
  };
}
