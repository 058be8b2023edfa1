/** Runs one call among others. */
import type { Host } from '../../core/operation-host.js';
import { type Run, Transaction } from '../../engine/transaction/transaction.js';
import type { Mutator } from './types.js';

/** The store whose mutator runs its own code now. */
let running: Host | undefined;

/** Returns whether a mutator of this store is calling: right at its start, or right after a call of its `tx`. */
export const isInMutator = (host: Host): boolean => running === host;

/** Runs code of a mutator of a store, and the rest of it that goes on in a turn of its own, right after this one. */
function inMutator<T>(host: Host, code: () => T): T {
  const enter = () => {
    running = host;
  };
  const leave = () => {
    running = undefined;
  };
  // Code that awaits a call goes on between these two microtasks, and no other code does.
  queueMicrotask(enter);
  enter();
  try {
    return code();
  } finally {
    leave();
    queueMicrotask(leave);
  }
}

/** Runs a mutator as a part of `run`, and waits for it by `wait`. If that throws, its edits are undone. */
export async function runMutator(
  run: Run,
  mutator: Mutator,
  args: unknown,
  wait: (result: Promise<unknown>) => Promise<unknown>,
): Promise<unknown> {
  const undo = run.edits.mark();
  const part = run.part();
  const within = <T>(code: () => T) => inMutator(run.host, code);
  part.calls.resume = within;
  try {
    return await wait(part.calls.result(() => within(() => mutator(new Transaction(part), args))));
  } catch (cause) {
    undo();
    throw cause;
  } finally {
    part.calls.end();
  }
}
