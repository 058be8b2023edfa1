/** Checks the names of sum trees. */
import { HedgerowError } from '../base/errors.js';
import { LONE_SURROGATE, utf8Length } from '../base/key.js';
import { MAX_TREE_NAME_BYTES } from '../base/limits.js';

/** Throws `invalid-argument` unless `name` can be the name of a sum tree. */
export function checkTreeName(name: unknown): asserts name is string {
  if (typeof name === 'string' && !LONE_SURROGATE.test(name)) {
    if (utf8Length(name) <= MAX_TREE_NAME_BYTES) return;
  }
  const message = `the name of a sum tree is well-formed text of at most ${MAX_TREE_NAME_BYTES} bytes`;
  throw new HedgerowError('invalid-argument', message);
}
