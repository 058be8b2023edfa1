/** Finds out whether the indexes of a commit list all rows of a table by their newest form, except refused rows. */

import { HedgerowError, isMissing } from '../../../base/errors.js';
import { buildKeyRange } from '../../../base/range.js';
import type { Snapshot } from '../../snapshot.js';
import type { Store } from '../../store.js';
import type { Spec } from '../spec.js';
import type { StoreReads } from '../table-context.js';
import { countOld, isOld, RefusedRows, tryOld } from './old-rows.js';

/** The readiness of the commits of a branch, as far as it is known. */
export class Readiness {
  readonly #db: Store;
  readonly #spec: Spec;
  /** The last commit that is known to be ready. */
  #root = '';
  /** The rows of a lower version at this commit: all of them are refused. */
  refused = new RefusedRows();

  constructor(db: Store, spec: Spec) {
    this.#db = db;
    this.#spec = spec;
  }

  /** Whether the head is known to be ready. */
  get isNow(): boolean {
    return this.#db.root === this.#root;
  }

  /** Returns whether a commit is ready. Costs its refused rows, or the changes since the last ready commit. */
  async isAt(snapshot: Snapshot, signal?: AbortSignal): Promise<boolean> {
    const { root } = snapshot;
    if (root === this.#root) return true;
    const at = snapshot as unknown as StoreReads;
    const old = await countOld(at, this.#spec, { signal });
    if (old > 0 && old === this.refused.rows && (await this.#isAsBefore(root, signal))) {
      this.#root = root;
      return true;
    }
    const refused = new RefusedRows();
    if (old > 0 && !(await areRefused(at, this.#spec, signal, refused))) return false;
    this.#root = root;
    this.refused = refused;
    return true;
  }

  /** Returns whether no row of a lower version has changed since the last ready commit, as far as few changes show. */
  async #isAsBefore(root: string, signal: AbortSignal | undefined): Promise<boolean> {
    const { prefix } = this.#spec;
    let left = this.refused.rows;
    try {
      for await (const change of this.#db.history.diff(this.#root, root, {
        ...buildKeyRange({ prefix }),
        signal,
      })) {
        const { op } = change;
        const isOfOld =
          (op !== 'insert' && isOld(this.#spec, change.oldValue)) ||
          (op !== 'delete' && isOld(this.#spec, change.newValue));
        left -= 1;
        if (isOfOld || left < 0) return false;
      }
      return true;
    } catch (cause) {
      // That commit may be collected.
      if (isMissing(cause)) return false;
      throw cause;
    }
  }
}

/** Returns whether `migrate` or the schema refuses all old rows of a place. */
export async function areRefused(
  at: StoreReads,
  spec: Spec,
  signal?: AbortSignal,
  refused = new RefusedRows(),
): Promise<boolean> {
  if ((await countOld(at, spec, { signal })) === 0) return true;
  let areAll = true;
  const fits = () => {
    areAll = false;
    return false;
  };
  await tryOld(at, spec, { refused: (row) => refused.add(row), fits }, signal);
  return areAll;
}

/** Makes the error of a read that would have to wait. */
export function notReady({ name, version }: Spec): HedgerowError {
  const message = `${name}: rows are still being brought to version ${version}: read by key, or wait`;
  return new HedgerowError('not-ready', message, { table: name });
}
