/** Merges a branch by a call: its changes are the argument of a mutator, since the rows here are the server's. */

import { anything, mandatory, type OptionsOf, optionsOf } from '../../base/check-options.js';
import { HedgerowError } from '../../base/errors.js';
import { untilWon } from '../../base/pauses.js';
import { encodeRange } from '../../base/range.js';
import { holdBranch, holdSides, type Sides } from '../../engine/history/branch-refs.js';
import { type Change, changesOf, startDiff } from '../../engine/read/decode-diff.js';
import { blocks } from '../../engine/read/scan.js';
import type { CallRunner } from './call-runner.js';
import { type ServerContext, unlessMoved } from './server-context.js';

const MERGE_DRAFT_OPTIONS = { as: mandatory(anything<string>()) };

/** Makes the call, and moves the fork in its commit: a later merge has only later changes. */
export async function mergeDraft(
  context: ServerContext,
  calls: CallRunner,
  name: string,
  options: OptionsOf<typeof MERGE_DRAFT_OPTIONS>,
): Promise<unknown> {
  const { as } = optionsOf('mergeDraft', options, MERGE_DRAFT_OPTIONS);
  if (typeof as !== 'string') {
    throw new HedgerowError('invalid-argument', 'mergeDraft: as is the name of a mutator');
  }
  const { local } = context;
  const made = await untilWon(async () => {
    const theirs = await holdBranch(local, name);
    try {
      const sides = await holdSides(local, name, theirs.commitBytes);
      if (sides === undefined) return undefined;
      try {
        const changes = await changesIn(context, sides);
        if (changes.length === 0) return { value: undefined };
        const making = calls.make(as, changes, sides.also);
        return await unlessMoved(making.then((value) => ({ value })));
      } finally {
        sides.release();
      }
    } finally {
      theirs.release();
    }
  });
  return made.value;
}

async function changesIn({ shared, local }: ServerContext, sides: Sides): Promise<Change[]> {
  const { host } = shared;
  const { baseBytes, theirsBytes } = sides;
  const start = async () => {
    return { op: await startDiff(host, local, baseBytes, theirsBytes, encodeRange({})) };
  };
  const changes: Change[] = [];
  for await (const members of blocks(host, start, undefined)) changes.push(...changesOf(members));
  return changes;
}
