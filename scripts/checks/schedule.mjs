// Runs the steps of a job in parallel, as far as they allow.

import { availableParallelism } from 'node:os';

/** Steps that run at once: most of them use two cores or three by themselves. */
export const SLOTS = Math.max(2, Math.floor(availableParallelism() / 3));

/**
 * Runs `steps` in their order, at most `slots` at a time. `run` runs a step, and resolves to whether it passed. A step
 * waits for those `steps` that it `needs`; steps of one `lane` never overlap; a step that is `alone` overlaps with no
 * other; one that `isFree`, which waits for the network, takes no slot. After a failure no step begins, but running
 * steps finish. With `goesOn` the others run; for a step that needs a failed one, `run` gets the failed step's name as
 * its second argument.
 */
export async function runSteps(steps, run, { slots = SLOTS, goesOn = false } = {}) {
  const names = new Set(steps.map(({ name }) => name));
  const waiting = [...steps];
  const running = new Map();
  const done = new Set();
  const failed = new Set();
  let isGood = true;

  const mayBegin = ({ lane, needs = [], alone = false, isFree = false }) => {
    const others = [...running.keys()];
    const isFull = others.filter((other) => !other.isFree).length >= slots;
    if ((isFull && !isFree) || (alone && others.length > 0) || others.some((other) => other.alone))
      return false;
    if (lane !== undefined && others.some((other) => other.lane === lane)) return false;
    return needs.every((name) => done.has(name) || !names.has(name));
  };
  const begin = async (step) => {
    const isOk = await run(
      step,
      step.needs?.find((name) => failed.has(name)),
    );
    running.delete(step);
    done.add(step.name);
    if (!isOk) failed.add(step.name);
    isGood &&= isOk || goesOn;
  };
  for (;;) {
    // Starts one at a time: the next choice depends on the running steps.
    for (let at = 0; isGood && at < waiting.length; ) {
      if (!mayBegin(waiting[at])) {
        // Others must not overtake a step that is alone, or it would wait for ever.
        if (waiting[at].alone) break;
        at += 1;
        continue;
      }
      const [step] = waiting.splice(at, 1);
      running.set(step, begin(step));
    }
    if (running.size === 0) break;
    await Promise.race(running.values());
  }
  if (isGood && waiting.length > 0) {
    throw new Error(`these steps wait for each other: ${waiting.map(({ name }) => name)}`);
  }
}
