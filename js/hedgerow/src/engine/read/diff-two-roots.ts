/** The changes between two roots. Loaded at first use. */

import { checkRangeOptions, KEY_RANGE, signalCheck } from '../../base/check-options.js';
import { HedgerowError, isMissing } from '../../base/errors.js';
import { encodeRange } from '../../base/range.js';
import { parseRoot } from '../../base/root-hash.js';
import type { Host } from '../../core/operation-host.js';
import type { Hold } from '../../storage/tabs/pins.js';
import type { BranchHead } from '../history/branch-head.js';
import { findStoredRef, forkedFrom, type HeldCommit } from '../history/branch-refs.js';
import { type Change, changesOf, type DiffOptions, startDiff } from './decode-diff.js';
import { blocks } from './scan.js';

const DIFF_OPTIONS = { ...KEY_RANGE, signal: signalCheck };

async function hold({ shared }: BranchHead, commitBytes: Uint8Array): Promise<HeldCommit> {
  const { release } = await shared.hold(commitBytes);
  return { commitBytes, release };
}

/** Holds the commit of a branch's fork, or of its last merge with its parent. */
async function holdFork(branchHead: BranchHead): Promise<HeldCommit> {
  const { shared, branchName } = branchHead;
  for (;;) {
    const refs = await shared.queueWork(() => shared.inventory.look());
    const fork = forkedFrom(branchName, refs.values());
    if (fork === undefined) {
      const message = `${branchName} was forked from no branch, or from one that was deleted`;
      throw new HedgerowError('invalid-argument', `history.sinceFork: ${message}`);
    }
    const { name, commitBytes, generation } = fork.ref;
    const { release } = await shared.hold(commitBytes);
    // All chunks of the commit are stored if it is still the base: see `tabs/pins.ts`.
    const again = await findStoredRef(branchHead, name);
    if (again?.generation === generation) return { commitBytes, release };
    release();
  }
}

/**
 * Yields the changes from one root to another, in the order of keys; by default from the fork of the branch to its
 * head.
 */
export async function* differences(
  host: Host,
  branchHead: BranchHead,
  from: string | undefined,
  to: string | undefined,
  options: DiffOptions,
): AsyncGenerator<Change, void, void> {
  const wanted = checkRangeOptions(
    `history.${from === undefined ? 'sinceFork' : to === undefined ? 'since' : 'diff'}`,
    options,
    DIFF_OPTIONS,
  );
  const range = encodeRange(wanted);
  const bytes = from === undefined ? undefined : parseRoot(from);
  const toBytes = to === undefined ? undefined : parseRoot(to);
  const start = async () => {
    const old = bytes === undefined ? await holdFork(branchHead) : await hold(branchHead, bytes);
    const fromBytes = old.commitBytes;
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
    if (from === undefined || to !== undefined || !isMissing(cause)) throw cause;
    const { chunk } = cause as HedgerowError;
    const message = `what ${from} was the root of is not stored any more`;
    throw new HedgerowError('missing-chunk', message, { cause, chunk });
  }
}
