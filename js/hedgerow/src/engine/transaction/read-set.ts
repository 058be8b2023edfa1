import type { Exactly } from '../../base/exhaustive-members-type.js';
import { compareKeys } from '../../base/key.js';
import {
  buildKeyRange,
  type EncodedRange,
  encodeRange,
  isInRange,
  type KeyRange,
} from '../../base/range.js';
import { turn } from '../../base/slice-queue.js';
import * as calls from '../../core/calls/read-calls.js';
import type { Index } from '../../core/indexes/definition.js';
import { deriveEntries } from '../../core/indexes/index-entries.js';
import type { Host } from '../../core/operation-host.js';
import { type Change, changesOf } from '../read/decode-diff.js';
import { blocks } from '../read/scan.js';
import type { OwnEdits } from './edits.js';

/** A scan, up to the last row that it returned. */
export interface ScanRead {
  readonly range: KeyRange;
  readonly reverse: boolean;
  /** The scan read only keys, so that changes of values do not matter. */
  readonly keysOnly: boolean;
  /** The number of keys that the transaction had edited when the scan began. */
  readonly edited: number;
  /** The last key returned; in a scan of an index, the last position. */
  reached?: string;
  /** The scan reached the end of its range, not only its limit. */
  ended: boolean;
}

/** A scan of an index; its range is a range of positions. */
export interface IndexRead extends ScanRead {
  readonly index: Index;
}

interface CountRead {
  readonly range: KeyRange;
  /** Keys in the range that the transaction had edited. */
  readonly own: readonly string[];
  /** The number of stored rows in the range with other keys. */
  readonly others: number;
}

/** The most keys that are compared one by one; one diff of the covering range compares more. */
const FEW_KEYS = 64;

/**
 * The stored rows that a transaction has read, and the check whether another commit would have given the same reads.
 * The check costs as much as the reads, or as the differences between the commits, however many rows are stored.
 *
 * Rows that the transaction had edited before it read them do not count: their reads do not depend on stored rows.
 */
export class ReadSet {
  readonly #keys = new Set<string>();
  readonly #counts: CountRead[] = [];
  readonly #scans: ScanRead[] = [];
  readonly #indexes: IndexRead[] = [];

  /** Records that the value of a key was read. */
  value(key: string): void {
    this.#keys.add(key);
  }

  /** Records a count of the rows of a range. */
  count(read: CountRead): void {
    this.#counts.push(read);
  }

  /** Records a scan, which updates `read` as it goes on. */
  scan(read: ScanRead): void {
    this.#scans.push(read);
  }

  /** As `scan`, of an index. */
  index(read: IndexRead): void {
    this.#indexes.push(read);
  }

  /** Reports whether any of the reads would differ between the views `from` and `to`. */
  async differ(host: Host, from: number, to: number, edits: OwnEdits): Promise<boolean> {
    if (await this.#keysDiffer(host, from, to)) return true;
    let startMs = performance.now();
    const pause = async () => {
      if (performance.now() - startMs < host.sliceMs) return;
      await turn();
      startMs = performance.now();
    };
    for (const { range, own, others } of this.#counts) {
      if ((await countOthers(host, to, range, own)) !== others) return true;
      await pause();
    }
    for (const scan of this.#scans) {
      const matters = ({ op, key }: Change) =>
        !(scan.keysOnly && op === 'update') && !wasEdited(key, scan, edits);
      const range = readPart(scan);
      if (range !== undefined && (await hasChange(host, from, to, range, matters))) return true;
      await pause();
    }
    for (const read of this.#indexes) {
      const part = readPart(read);
      if (part === undefined) continue;
      const matters = (change: Change) => entersInto(change, read, part, edits);
      if (await hasChange(host, from, to, { prefix: read.index.prefix }, matters)) return true;
      await pause();
    }
    return false;
  }

  async #keysDiffer(host: Host, from: number, to: number): Promise<boolean> {
    if (this.#keys.size > FEW_KEYS) {
      const keys = [...this.#keys];
      const range = {
        gte: keys.reduce((a, b) => (compareKeys(a, b) < 0 ? a : b)),
        lte: keys.reduce((a, b) => (compareKeys(a, b) > 0 ? a : b)),
      };
      return hasChange(host, from, to, range, ({ key }) => this.#keys.has(key));
    }
    for (const key of this.#keys) {
      if (await hasChange(host, from, to, { gte: key, lte: key }, () => true)) return true;
    }
    return false;
  }
}

function wasEdited(key: string, { edited }: ScanRead, edits: OwnEdits): boolean {
  const edit = edits.get(key);
  return edit !== undefined && edit.order < edited;
}

/** Reports whether a change of a row affects a read of an index. */
function entersInto(
  change: Change,
  { index, keysOnly, ...read }: IndexRead,
  part: KeyRange,
  edits: OwnEdits,
): boolean {
  if (wasEdited(change.key, { ...read, keysOnly }, edits)) return false;
  const [before, after] = [
    change.op === 'insert' ? [] : deriveEntries(index, change.key, change.oldValue),
    change.op === 'delete' ? [] : deriveEntries(index, change.key, change.newValue),
  ].map((entries) =>
    entries.map(({ position }) => position).filter((position) => isInRange(position, part)),
  ) as [string[], string[]];
  if (!keysOnly) return before.length + after.length > 0;
  return before.length !== after.length || before.some((position) => !after.includes(position));
}

/** Returns the part of a range that a scan has read. */
function readPart({ range, reverse, reached, ended }: ScanRead): KeyRange | undefined {
  if (ended) return range;
  if (reached === undefined) return undefined;
  const { prefix, gt, gte, lt, lte }: Exactly<KeyRange, 'prefix' | 'gt' | 'gte' | 'lt' | 'lte'> =
    range;
  return buildKeyRange(
    reverse ? { prefix, gte: reached, lt, lte } : { prefix, gt, gte, lte: reached },
  );
}

async function hasChange(
  host: Host,
  from: number,
  to: number,
  range: KeyRange,
  matters: (change: Change) => boolean,
): Promise<boolean> {
  const encoded = encodeRange(range);
  const start = () => ({ op: calls.diffViews(host.engine, from, to, encoded) });
  for await (const members of blocks(host, start, undefined)) {
    for (const change of changesOf(members)) if (matters(change)) return true;
  }
  return false;
}

/** Counts the rows in a range of a view. */
function countRange(host: Host, view: number, range: KeyRange): Promise<number> {
  return countEncoded(host, view, encodeRange(range));
}

/** Counts the rows, or the entries of an index, in a range of a view. */
export function countEncoded(host: Host, view: number, encoded: EncodedRange): Promise<number> {
  const { engine } = host;
  return host.read(calls.startCount(engine, view, encoded), () => calls.readCountReply(engine));
}

/** Counts the rows in a range of a view, without the rows whose key is in `own`. */
export async function countOthers(
  host: Host,
  view: number,
  range: KeyRange,
  own: readonly string[],
): Promise<number> {
  const count = await countRange(host, view, range);
  return count - (await areStored(host, view, own)).filter(Boolean).length;
}

/** Finds, for each key, whether a view has a row with it. */
export async function areStored(
  host: Host,
  view: number,
  keys: readonly string[],
): Promise<boolean[]> {
  const found: boolean[] = [];
  let startMs = performance.now();
  for (const key of keys) {
    found.push((await countRange(host, view, { gte: key, lte: key })) > 0);
    if (performance.now() - startMs < host.sliceMs) continue;
    await turn();
    startMs = performance.now();
  }
  return found;
}
