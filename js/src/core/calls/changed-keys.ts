/** The reply of a diff without its values. Loaded later. */
import * as Reply from '../../base/abi/reply.js';
import type { Engine } from '../engine.js';

/** The members of the output of a diff, with `null` for each value: these are not parsed. */
export function changedKeys(engine: Engine): unknown[] {
  const address = engine.word(Reply.outputKeys);
  const keys = engine.memory.subarray(address, address + engine.word(Reply.outputKeysLength));
  return keys.length === 0 ? [] : (JSON.parse(engine.decode(keys)) as unknown[]);
}
