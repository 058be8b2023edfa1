/** The work of a mutator that takes the changes of a draft. */
import { checkHas } from '../../base/check-options.js';
import { HedgerowError } from '../../base/errors.js';
import { hasCalls, isPlain } from '../../base/runtime-type-checks.js';
import { sameValue } from '../../base/same-value.js';
import type { Change } from '../../engine/read/decode-diff.js';
import type { Transaction } from '../../engine/transaction/transaction.js';

/**
 * Makes the changes of a draft in a mutator, which `mergeDraft` calls. A row that is there as the draft has it is no
 * conflict. Throws `conflict`, before it changes a row, if another row is not as it was when the draft was forked.
 * Resolves to the changes that undo these. The order of members in a row does not count.
 */
export async function takeChanges(
  tx: Pick<Transaction, 'getMany' | 'put' | 'delete'>,
  changes: readonly Change[],
): Promise<Change[]> {
  checkHas('takeChanges', tx, 'getMany put delete', 'a transaction');
  if (!hasCalls(changes, 'every filter map') || !changes.every(isChange)) {
    throw new HedgerowError('invalid-argument', 'takeChanges takes the changes of mergeDraft');
  }
  const present = await tx.getMany(changes.map(({ key }) => key));
  const made = changes.filter((change, at) => {
    const { before, after } = sidesOf(change);
    if (sameValue(present[at], after, false)) return false;
    if (sameValue(present[at], before, false)) return true;
    throw new HedgerowError('conflict', `${change.key} was changed since`, { key: change.key });
  });
  for (const change of made) {
    if (change.op === 'delete') tx.delete(change.key);
    else tx.put(change.key, change.newValue);
  }
  return made.map(reverse);
}

const isChange = (one: unknown): boolean =>
  isPlain(one) && ['insert', 'update', 'delete'].includes((one as Change).op);

function sidesOf(change: Change): { readonly before: unknown; readonly after: unknown } {
  return {
    before: change.op === 'insert' ? undefined : change.oldValue,
    after: change.op === 'delete' ? undefined : change.newValue,
  };
}

function reverse(change: Change): Change {
  const { key } = change;
  if (change.op === 'insert') return { op: 'delete', key, oldValue: change.newValue };
  if (change.op === 'delete') return { op: 'insert', key, newValue: change.oldValue };
  return { op: 'update', key, oldValue: change.newValue, newValue: change.oldValue };
}
