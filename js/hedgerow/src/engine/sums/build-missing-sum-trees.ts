/**
 * Builds the missing sum trees that follow rows: from all rows, in one commit, in the background. Every commit of rows
 * also builds them: only a store whose rows do not change needs this.
 */

import { HedgerowError } from '../../base/errors.js';
import { MAX_BUILD_WAIT_MS } from '../../base/limits.js';
import { withLock } from '../../base/timeout.js';
import { total } from '../../core/calls/read-calls.js';
import { sumTreeCalls } from '../../core/calls/sum-tree-calls.js';
import type { Host } from '../../core/operation-host.js';
import { toldDefinition } from '../../core/sum-tree-root.js';
import type { BranchHead, Head } from '../history/branch-head.js';
import type { ReadContext } from '../read/context.js';
import { abandonOnError, Ingest } from '../write/ingest.js';

/** The build in progress of each branch, and the head at which it began. */
const making = new WeakMap<BranchHead, { readonly head: Head; readonly made: Promise<void> }>();

/** Reports whether a commit lacks a wanted tree or, if `alone`, has other trees that follow rows. */
export async function isBehind(host: Host, view: number, alone: boolean): Promise<boolean> {
  const { sums: wanted } = host;
  if (wanted === undefined) return false;
  const definition = (name: string) => toldDefinition(total(host.engine, view, name));
  for (const name of wanted.keys()) {
    if (total(host.engine, view, name).length > 0 && definition(name) === '') {
      throw new HedgerowError(
        'invalid-argument',
        `the sum tree ${name} was written by hand: give the one in advanced.sums of open another name`,
      );
    }
  }
  for (const [name, one] of wanted) if (definition(name) !== one) return true;
  if (!alone) return false;
  const names = (await sumTreeCalls(host)).names(view);
  return names.some((name) => !wanted.has(name) && definition(name) !== '');
}

/** Resolves once all wanted trees follow the rows; at once if no tree is missing. */
export async function buildMissingSums(from: ReadContext): Promise<void> {
  const { host, branchHead } = from;
  if (host.sums === undefined) return;
  await sumTreeCalls(host);
  const { leftovers } = branchHead;
  // A snapshot never changes.
  const alone = leftovers.sums && from.write !== undefined;
  const held = await from.holdHead();
  const check = async ({ rows, view }: Head) => rows > 0 && isBehind(host, view, alone);
  const behind = await check(held.head).finally(held.release);
  if (!behind && alone) leftovers.sums = false;
  if (!behind) return;
  if (from.write === undefined) {
    throw new HedgerowError(
      'not-ready',
      'the snapshot is from before the sum tree was made: take a new one',
    );
  }
  const before = making.get(branchHead);
  if (before !== undefined) {
    return before.made.catch((cause: unknown) => {
      // The rows that made the build fail may have changed since.
      if (before.head === branchHead.head) throw cause;
      return buildMissingSums(from);
    });
  }
  const { head } = branchHead;
  const { closing = new AbortController().signal } = from;
  const made = from.write(closing, false, async (durability) => {
    const work = async () => {
      const { view } = branchHead.head;
      if (await isBehind(host, view, leftovers.sums))
        await make(host, branchHead, durability, closing);
    };
    // The lock only saves work: two builds are safe, since one of them loses the race.
    const { locks, prefix } = branchHead.pins;
    await withLock(locks, `${prefix}sums`, MAX_BUILD_WAIT_MS, work, closing);
  });
  making.set(branchHead, { head, made });
  made.catch(() => {}).finally(() => making.delete(branchHead));
  return made;
}

async function make(
  host: Host,
  branchHead: BranchHead,
  durability: Parameters<typeof Ingest.begin>[2],
  signal: AbortSignal,
): Promise<void> {
  const ingest = await Ingest.begin(host, branchHead, durability, { signal, isUpkeep: true });
  await abandonOnError(ingest, async () => {
    const sums = await sumTreeCalls(host);
    sums.extend(ingest.op);
    await ingest.commit();
  });
}
