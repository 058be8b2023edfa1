/** Clones: a store that begins with what a remote has. Loaded at first use. */

import { HedgerowError } from '../base/errors.js';
import { optionsOf } from '../base/options.js';
import { checkSignal, ending } from '../base/signal.js';
import type { Branch, BranchesOptions } from '../branches/branches.js';
import type { Remote } from '../remote/remote.js';
import type { Link, LinkOptions, PullOptions } from '../sync/link.js';
import { originOf } from '../sync/names.js';
import type { OpenOptions } from './open.js';

/** Options of `clone`: those of `open`, those of `pull`, and `link`. */
export interface CloneOptions extends OpenOptions, PullOptions {
  /** How the store is linked to the remote: the options of `db.remote`. */
  readonly link?: LinkOptions | undefined;
}

/** As much of a store as a clone uses. */
interface Cloned {
  readonly branchName: string;
  branches(options: BranchesOptions): Promise<readonly Branch[]>;
  remote(remote: Remote, options: LinkOptions): Promise<Link>;
  close(): Promise<void>;
}

/** See `clone` of the index. */
export async function cloneStore<Db extends Cloned>(
  open: (name: string, options?: OpenOptions) => Promise<Db>,
  name: string,
  remote: Remote,
  { link: linking = {}, signal, onProgress, ...opening }: CloneOptions = {},
): Promise<{ readonly db: Db; readonly link: Link }> {
  const job = optionsOf('clone', { signal, onProgress }, 'signal onProgress');
  const work = async (own: AbortSignal | undefined) => {
    checkSignal(own);
    const db = await open(name, opening);
    try {
      checkSignal(own);
      await checkFree(db, linking);
      const link = await db.remote(remote, linking);
      await link.pull({ ...job, signal: own });
      return { db, link };
    } catch (cause) {
      await db.close();
      throw cause;
    }
  };
  return ending(signal, work, { drop: ({ db }) => void db.close() }).result;
}

/** Throws `invalid-argument` if the store has rows, and none of this remote. Writes nothing. */
async function checkFree(db: Cloned, { name = 'origin', branch }: LinkOptions): Promise<void> {
  const branches = await db.branches({ remotes: true });
  const rootOf = (wanted: string) => branches.find((one) => one.name === wanted)?.root;
  const hasRows = (root = '') => /[^0]/.test(root);
  const own = branch ?? db.branchName;
  if (!hasRows(rootOf(own)) || hasRows(rootOf(originOf(name)))) return;
  throw new HedgerowError(
    'invalid-argument',
    `clone needs a store without rows, or a clone of this remote: ${own} has rows. destroy() it, or take another name`,
  );
}
