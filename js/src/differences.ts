/** The changes between two roots. Loaded when they are first asked for. */
import type { Commits } from './commit.js';
import { type Change, changesOf, type DiffOptions, startDiff } from './diff.js';
import { HedgerowError, isMissing } from './errors.js';
import type { Host } from './host.js';
import { RANGE, rangeOf } from './options.js';
import type { Hold } from './pins.js';
import { encodeRange } from './range.js';
import { bytesOf } from './root.js';
import { blocks } from './scan.js';

/** The changes that lead from one root to another, or to the head, in the order of keys. */
export async function* differences(
  host: Host,
  commits: Commits,
  from: string,
  to: string | undefined,
  options: DiffOptions,
): AsyncGenerator<Change, void, void> {
  const wanted = rangeOf('diff', options, RANGE.signal);
  const range = encodeRange(wanted);
  const [fromBytes, toBytes] = [bytesOf(from), to === undefined ? undefined : bytesOf(to)];
  const start = async () => {
    const old = await commits.hold(fromBytes);
    let young: Hold | undefined;
    const end = () => {
      old.release();
      young?.release();
    };
    try {
      if (toBytes !== undefined) {
        young = await commits.hold(toBytes);
        return { op: await startDiff(host, commits, fromBytes, toBytes, range), end };
      }
      const head = await commits.holdHead();
      young = head;
      const { commitBytes } = head.head;
      return { op: await startDiff(host, commits, fromBytes, commitBytes, range), end };
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
