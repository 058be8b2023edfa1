/**
 * A block of history: it lists pushes of a branch, so that a device that was away for long finds its last seen one. A
 * fork has other pushes under the same numbers: a nonce is random, and new for each try.
 */

import { sameBytes } from '../../../base/bytes.js';
import { type Check, checkerOf } from './check-tail-entries.js';
import type { Scope } from './cipher-suite.js';
import type { HashFunction } from './content-names.js';
import { FieldWriter } from './field-codec.js';
import { MAX_BLOCK_BYTES, MAX_BLOCK_PUSHES } from './format-limits.js';
import type { BlockRecord, Push } from './head-record.js';
import { unwrapObject, wrapObject } from './single-part-object.js';

/** How many bytes of a nonce a block has. */
export const NONCE_START = 8;
const PUSH_BYTES = 8 + NONCE_START;

/** Returns whether a push has the number and start of the nonce that a block, or a store, has. */
export function isPush(start: Push, { seq, nonceBytes }: Push): boolean {
  return (
    start.seq === seq &&
    sameBytes(start.nonceBytes.subarray(0, NONCE_START), nonceBytes.subarray(0, NONCE_START))
  );
}

/** Makes a block's object, and its record for a head; `saltBytes` are 16 random bytes. Throws `invalid-argument`. */
export async function encodeBlock(
  pushes: readonly Push[],
  saltBytes: Uint8Array,
  hash: HashFunction,
  scope: Scope,
): Promise<{ readonly bytes: Uint8Array; readonly record: BlockRecord }> {
  const seq = checkPushes(pushes, checkerOf('history'));
  const writer = new FieldWriter('history');
  for (const { seq: own, nonceBytes } of pushes) {
    writer.u64(own);
    writer.exactly(NONCE_START, nonceBytes.subarray(0, NONCE_START));
  }
  const bytes = await wrapObject('history', saltBytes, writer.toBytes(), MAX_BLOCK_BYTES, scope);
  const record = { nameBytes: hash(bytes), length: bytes.length, seq, pushes: pushes.length };
  return { bytes, record };
}

/**
 * Reads a block: the number of each push, and the first 8 bytes of its nonce. Throws `remote/data` with the offset
 * of the fault, `newer-version/format` or `wrong-key`. Costs its length.
 */
export async function decodeBlock(
  bytes: Uint8Array,
  scope: Scope,
): Promise<{ readonly pushes: readonly Push[]; readonly saltBytes: Uint8Array }> {
  const { reader, saltBytes } = await unwrapObject('history', bytes, MAX_BLOCK_BYTES, scope);
  const places = new Map([['push 0', reader.at]]);
  const count = Math.floor(reader.left / PUSH_BYTES);
  const pushes = Array.from({ length: count }, (_, nth): Push => {
    places.set(`push ${nth}`, reader.at);
    return { seq: reader.u64(), nonceBytes: reader.take(NONCE_START) };
  });
  reader.end();
  checkPushes(pushes, checkerOf('history', { reader, places }));
  return { pushes, saltBytes };
}

/** Checks pushes, and returns the number of the first. */
function checkPushes(pushes: readonly Push[], check: Check): number {
  check(pushes.length <= MAX_BLOCK_PUSHES, 'push 0', `${pushes.length} pushes`);
  const [first] = pushes;
  if (first === undefined) return check(false, 'push 0', 'it is empty');
  let before = 0;
  for (const [nth, { seq }] of pushes.entries()) {
    check(seq > before, `push ${nth}`, `its seq ${seq} is out of order`);
    before = seq;
  }
  return first.seq;
}
