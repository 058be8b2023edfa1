/** The changes between two roots. Loaded at the first use. */

import { HedgerowError, isMissing } from '../base/errors.js';
import { RANGE, rangeOf } from '../base/options.js';
import { encodeRange } from '../base/range.js';
import { bytesOf } from '../base/root.js';
import type { Host } from '../core/host.js';
import type { BranchHead } from '../history/branch-head.js';
import type { Hold } from '../tabs/pins.js';
import { type Change, changesOf, type DiffOptions, startDiff } from './diff.js';
import { blocks } from './scan.js';

/** The changes from one root to another (by default the head), in the order of keys. */
export async function* differences(
  host: Host,
  branchHead: BranchHead,
  from: string,
  to: string | undefined,
  options: DiffOptions,
): AsyncGenerator<Change, void, void> {
  const wanted = rangeOf('diff', options, RANGE.signal);
  const range = encodeRange(wanted);
  const [fromBytes, toBytes] = [bytesOf(from), to === undefined ? undefined : bytesOf(to)];
  const start = async () => {
    const old = await branchHead.shared.hold(fromBytes);
    let newer: Hold | undefined;
    const end = () => {
      old.release();
      newer?.release();
    };
    try {
      if (toBytes !== undefined) {
        newer = await branchHead.shared.hold(toBytes);
        return { op: await startDiff(host, branchHead, fromBytes, toBytes, range), end };
      }
      const head = await branchHead.holdHead();
      newer = head;
      const { commitBytes } = head.head;
      return { op: await startDiff(host, branchHead, fromBytes, commitBytes, range), end };
    } catch (cause) {
      end();
      throw cause;
    }
  };
  try {
    for await (const members of blocks(host, start, wanted.signal)) yield* changesOf(members);
  } catch (cause) {
    if (to !== undefined || !isMissing(cause)) throw cause;
    const { chunk } = cause as HedgerowError;
    const message = `what ${from} was the root of is not stored any more`;
    throw new HedgerowError('missing-chunk', message, { cause, chunk });
  }
}
