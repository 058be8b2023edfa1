/** The changes between two roots. */
import type { Commits } from './commit.js';
import type { Host } from './host.js';
import { encodeRange, type KeyRange } from './range.js';
import { bytesOf } from './root.js';
import { blocks, type Rows } from './scan.js';

/** What became of a row. */
export type Change<Value = unknown> =
  | { readonly op: 'add'; readonly key: string; readonly newValue: Value }
  | {
      readonly op: 'change';
      readonly key: string;
      readonly oldValue: Value;
      readonly newValue: Value;
    }
  | { readonly op: 'del'; readonly key: string; readonly oldValue: Value };

/** Which changes a diff yields. */
export interface DiffOptions extends KeyRange {
  /** Ends the diff with `aborted`. */
  readonly signal?: AbortSignal | undefined;
}

/** Takes the changes out of a block; a code tells how many members each has. */
export function* changesOf(members: unknown[]): Generator<Change, void, void> {
  let at = 0;
  while (at < members.length) {
    const [code, key, first, second] = members.slice(at, at + 4) as [number, string, ...unknown[]];
    if (code === 0) yield { op: 'add', key, newValue: first };
    else if (code === 1) yield { op: 'change', key, oldValue: first, newValue: second };
    else yield { op: 'del', key, oldValue: first };
    at += code === 1 ? 4 : 3;
  }
}

async function* changes(
  host: Host,
  commits: Commits,
  from: string,
  to: string,
  options: DiffOptions,
): AsyncGenerator<Change, void, void> {
  const { engine } = host;
  const { flags, rangeBytes } = encodeRange(options);
  const [fromBytes, toBytes] = [bytesOf(from), bytesOf(to)];
  const start = async () => {
    const holds = await Promise.all([commits.hold(fromBytes), commits.hold(toBytes)]);
    const end = () => {
      for (const hold of holds) hold.release();
    };
    try {
      return { op: await startDiff(), end };
    } catch (cause) {
      end();
      throw cause;
    }
  };
  const startDiff = async () => {
    const old = await commits.openView(fromBytes);
    try {
      const { view } = await commits.openView(toBytes);
      const op = engine.diff(old.view, view, flags, rangeBytes);
      engine.closeView(view);
      return op;
    } finally {
      engine.closeView(old.view);
    }
  };
  for await (const members of blocks(host, start, options.signal)) yield* changesOf(members);
}

/** The changes that lead from one root to another, in the order of keys. */
export function diffOf(
  host: () => Host,
  commits: Commits,
  from: string,
  to: string,
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
