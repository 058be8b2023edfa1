import { soon, untilWon } from '../../base/pauses.js';
import type { BranchHead } from './branch-head.js';

/** Repeats `attempt`, which makes a commit and returns `undefined` when it lost the race, until it wins. */
export async function retryCommit<T>(
  head: BranchHead,
  attempt: () => Promise<T | undefined>,
): Promise<T> {
  const { writerQueue } = head.shared;
  const result = await attempt();
  if (result !== undefined) return result;
  writerQueue.noteRace();
  return writerQueue.hold(async (isAlone) => {
    // Without the queue, a random pause gives the loser a chance.
    if (!isAlone) await soon(Math.random());
    const again = async () => {
      await head.refresh();
      const result = await attempt();
      if (result === undefined) writerQueue.noteRace();
      return result;
    };
    return untilWon(again, undefined, 1);
  });
}
