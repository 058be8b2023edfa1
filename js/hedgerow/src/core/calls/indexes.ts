/** Calls for indexes. Each index has a number, from 1, in the order of the definitions. */
import * as Reply from '../../base/abi/reply.js';
import * as Status from '../../base/abi/status.js';
import { HedgerowError } from '../../base/errors.js';
import type { Engine } from '../engine.js';
import type { IndexCore } from '../indexes/index-set.js';

/** Returns an engine's view of indexes. */
export function indexCore(engine: Engine): IndexCore {
  return {
    setIndexes(definitions) {
      const name = () => {
        const length = engine.passText(JSON.stringify(definitions));
        if (engine.core.set_indexes(length) >>> 0 !== Status.noOp) return;
        throw new HedgerowError('invalid-argument', 'the definition of an index was refused');
      };
      if (engine.isReady) name();
      // Each new instance needs the definitions.
      engine.onStart = name;
    },
    indexState(view, index) {
      engine.core.index_state(engine.own(view), index);
      return engine.word(Reply.indexReachState);
    },
    indexCount: (view) => indexCount(engine, view),
  };
}

/** Counts the indexes that the commit of a view has, complete or not. */
export function indexCount(engine: Engine, view: number): number {
  return engine.core.index_count(engine.own(view));
}

/** Reads the last key that a partial index includes, from the reply to `indexState`. */
export function indexReach(engine: Engine): string {
  return engine.decode(engine.copy(Reply.indexReachKey, Reply.indexReachKeyLength));
}
