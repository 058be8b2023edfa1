/** The changes between two roots. */
import type { Commits } from './commit.js';
import type { Op } from './engine.js';
import { HedgerowError, isMissing } from './errors.js';
import type { Host } from './host.js';
import { RANGE, rangeOf } from './options.js';
import type { Hold } from './pins.js';
import { type EncodedRange, encodeRange, type KeyRange } from './range.js';
import { bytesOf } from './root.js';
import { blocks, type Rows } from './scan.js';

/** What became of a row; of an entry of an index, when that is watched. */
export type Change<Value = unknown> = (
  | { readonly op: 'add'; readonly newValue: Value }
  | { readonly op: 'change'; readonly oldValue: Value; readonly newValue: Value }
  | { readonly op: 'del'; readonly oldValue: Value }
) & {
  /** The key of the row. */
  readonly key: string;
  /** Of an index: what it lists the row under. */
  readonly secondary?: unknown;
};

/** Which changes a diff yields. */
export interface DiffOptions extends KeyRange {
  /** Ends the diff with `aborted`. */
  readonly signal?: AbortSignal | undefined;
}

/** The change at `at` among the members of a block; a code tells how many it has. */
export function changeAt(members: readonly unknown[], at: number): Change {
  const [code, key, first] = [members[at], members[at + 1] as string, members[at + 2]];
  if (code === 0) return { op: 'add', key, newValue: first };
  if (code === 2) return { op: 'del', key, oldValue: first };
  return { op: 'change', key, oldValue: first, newValue: members[at + 3] };
}

/** How many members the change at `at` has. */
export function widthAt(members: readonly unknown[], at: number): number {
  return members[at] === 1 ? 4 : 3;
}

/** Takes the changes out of a block. */
export function* changesOf(members: unknown[]): Generator<Change, void, void> {
  for (let at = 0; at < members.length; at += widthAt(members, at)) yield changeAt(members, at);
}

/** Starts a diff of two commits, which the caller holds while it runs. */
export async function startDiff(
  { engine }: Host,
  commits: Commits,
  from: Uint8Array,
  to: Uint8Array,
  { flags, rangeBytes }: EncodedRange,
): Promise<Op> {
  const old = await commits.openView(from);
  try {
    const { view } = await commits.openView(to);
    const op = engine.diff(old.view, view, flags, rangeBytes);
    engine.closeView(view);
    return op;
  } finally {
    engine.closeView(old.view);
  }
}

async function* changes(
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

/** The changes that lead from one root to another, or to the head, in the order of keys. */
export function diffOf(
  host: () => Host,
  commits: Commits,
  from: string,
  to: string | undefined,
  options: DiffOptions,
): Rows<Change> {
  const iterate = () => changes(host(), commits, from, to, options);
  return {
    [Symbol.asyncIterator]: iterate,
    async toArray() {
      const all: Change[] = [];
      for await (const change of iterate()) all.push(change);
      return all;
    },
  };
}
