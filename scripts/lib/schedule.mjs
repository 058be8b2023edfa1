// Runs the steps of a job side by side, as far as they allow.

/**
 * Runs `steps` in their order, at most `slots` at a time. `run` makes a step, and resolves to whether it went
 * well. A step waits for those among `steps` that it `needs`; steps of one `lane` never overlap; a step that is
 * `alone` overlaps with none. After a failure no step begins; those that have begun come to their ends.
 */
export async function runSteps(steps, run, { slots = 2 } = {}) {
  const names = new Set(steps.map(({ name }) => name));
  const waiting = [...steps];
  const running = new Map();
  const done = new Set();
  let isGood = true;

  const mayBegin = ({ lane, needs = [], alone = false }) => {
    const others = [...running.keys()];
    if (
      others.length >= slots ||
      (alone && others.length > 0) ||
      others.some((other) => other.alone)
    )
      return false;
    if (lane !== undefined && others.some((other) => other.lane === lane)) return false;
    return needs.every((name) => done.has(name) || !names.has(name));
  };
  const begin = async (step) => {
    const isOk = await run(step);
    running.delete(step);
    done.add(step.name);
    isGood &&= isOk;
  };
  for (;;) {
    // One at a time: what may begin depends on what has begun.
    for (let at = 0; isGood && at < waiting.length; ) {
      if (!mayBegin(waiting[at])) {
        // What is alone would wait for ever if others went past it.
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
