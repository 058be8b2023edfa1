/** Commits the edits of single rows that share a commit. */
import { HedgerowError, isRefusal, kindOfError } from '../../base/errors.js';
import type { Host } from '../../core/operation-host.js';
import type { Durability } from '../../storage/segment-store.js';
import type { BranchHead } from '../history/branch-head.js';
import { retryCommit } from '../history/retry-commit.js';
import type { Block } from './ingest.js';

import { tryEdits } from './try-edits.js';
import type { Edit, WaitingEdit } from './waiting-edit.js';

/** Makes one commit of edits; run it exclusively. */
function commitOnce(
  host: Host,
  branchHead: BranchHead,
  ownDurability: Durability,
  edits: readonly WaitingEdit[],
): Promise<object> {
  const blocks = groups(edits).map(blockOf);
  const freesSpace = blocks.every(({ format }) => format === 'deletes');
  const isStrict = ({ options }: WaitingEdit) =>
    (options?.durability ?? ownDurability) === 'strict';
  const durability = edits.some(isStrict) ? 'strict' : 'relaxed';
  return retryCommit(branchHead, () =>
    tryEdits(host, branchHead, durability, blocks, { freesSpace }),
  );
}

/** Commits edits and settles their promises. A refused edit does not make the others fail. Run it exclusively. */
export async function commitEdits(
  host: Host,
  branchHead: BranchHead,
  durability: Durability,
  edits: readonly WaitingEdit[],
): Promise<void> {
  if (edits.length === 0) return;
  const commitAll = (some: readonly WaitingEdit[]) =>
    commitEdits(host, branchHead, durability, some);
  try {
    await commitOnce(host, branchHead, durability, edits);
  } catch (cause) {
    const { key, row = lastOf(edits, key) } = cause as HedgerowError;
    if (isRefusal(cause) && row >= 0) {
      // Remove the position: the caller of a single put does not know it.
      const message = cause.message.replace(/^row \d+: /, '');
      edits[row]?.reject(new HedgerowError(kindOfError(cause), message, { cause, key }));
      return commitAll(edits.filter((_, at) => at !== row));
    }
    if (!isRefusal(cause) || edits.length === 1) {
      for (const { reject } of edits) reject(cause);
      return;
    }
    // A sum tree refused one of the edits, without its position: bisect.
    const half = edits.length >> 1;
    await commitAll(edits.slice(0, half));
    return commitAll(edits.slice(half));
  }
  for (const { key, over } of edits) for (const overrides of over) overrides.add(key);
  for (const { resolve } of edits) resolve();
}

/** Returns the position of the last edit of a key, which is the one that counts, or -1. */
function lastOf(edits: readonly Edit[], key: string | undefined): number {
  return edits.map((edit) => edit.key).lastIndexOf(JSON.stringify(key));
}

/** Splits edits into runs of puts and runs of deletes: a block holds one kind. */
function groups(edits: readonly Edit[]): Edit[][] {
  const split: Edit[][] = [];
  let isPut: boolean | undefined;
  for (const edit of edits) {
    if (isPut !== (edit.value !== undefined)) split.push([]);
    isPut = edit.value !== undefined;
    split[split.length - 1]?.push(edit);
  }
  return split;
}

/** Makes the block of edits that are all puts or all deletes. */
export function blockOf(edits: readonly Edit[]): Block {
  const values: { row: number; bytes: Uint8Array }[] = [];
  const members: string[] = [];
  for (const [row, { key, value }] of edits.entries()) {
    members.push(key);
    if (typeof value === 'string') members.push(value);
    else if (value !== undefined) {
      members.push('0');
      values.push({ row, bytes: value });
    }
  }
  const format = edits[0]?.value === undefined ? ('deletes' as const) : ('pairs' as const);
  return { text: `[${members.join(',')}]`, format, rows: edits.length, values };
}
