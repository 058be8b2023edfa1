/** Reads the reply of a diff without its values. Loaded later. */
import * as Reply from '../../base/abi/reply.js';
import type { Engine } from '../engine.js';

/** Returns the members of the output of a diff, with `null` for each value, which it does not parse. */
export function changedKeys(engine: Engine): unknown[] {
  const address = engine.word(Reply.outputKeys);
  const keys = engine.memory.subarray(address, address + engine.word(Reply.outputKeysLength));
  return keys.length === 0 ? [] : (JSON.parse(engine.decode(keys)) as unknown[]);
}
