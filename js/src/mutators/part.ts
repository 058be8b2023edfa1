/** One call among others. */
import { type Run, Transaction } from '../transaction/transaction.js';
import type { Mutator } from './types.js';

/** Runs a mutator as a part of `run`, and waits for it by `wait`. If that throws, its edits are taken back. */
export async function runMutator(
  run: Run,
  mutator: Mutator,
  args: unknown,
  wait: (result: Promise<unknown>) => Promise<unknown>,
): Promise<unknown> {
  const undo = run.edits.mark();
  const part = run.part();
  try {
    return await wait(part.calls.result(() => mutator(new Transaction(part), args)));
  } catch (cause) {
    undo();
    throw cause;
  } finally {
    part.calls.end();
  }
}
