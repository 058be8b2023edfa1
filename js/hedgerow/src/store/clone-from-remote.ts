/** Clones: stores that begin with the rows of a remote. Loaded at first use. */

import { checkSignal, ending } from '../base/abort-signal.js';
import { checkPlain, optionsOf } from '../base/check-options.js';
import { part } from '../base/dynamic-import.js';
import { HedgerowError } from '../base/errors.js';
import { memberOf } from '../base/runtime-type-checks.js';
import type { Branch, BranchesOptions } from '../engine/branches/branches.js';
import type { Storage } from '../storage/segment-store.js';
import type { LazySegments } from '../sync/lazy/lazy-segments.js';
import type { LazyRemote } from '../sync/lazy/open-lazy.js';
import type { BucketTransport } from '../sync/link/bucket.js';
import type { BucketConnection } from '../sync/link/bucket-connection.js';
import { PULL_OPTIONS, type PullOptions } from '../sync/link/connection-state.js';
import type { SyncProgress } from '../sync/link/link-context.js';
import { originOf } from '../sync/link/link-ref-names.js';
import { checkedRemote } from '../sync/remote/checked-remote.js';
import type { Remote } from '../sync/remote/remote.js';
import type { OpenOptions } from './open.js';

/** The options of `clone`: the options of `open` and `pull`, and `mode`. */
export interface CloneOptions extends OpenOptions, PullOptions<SyncProgress> {
  /**
   * `'full'`, the default, fetches all rows. `'lazy'` fetches rows when they are read, and keeps them: it opens after
   * two requests, at the last checkpoint of the remote, and `connection.pull()` brings later pushes. Call `clone` each
   * time that the store is opened: a store that was opened without it has only the rows that are here. It has no indexes
   * and no sum trees.
   */
  readonly mode?: 'full' | 'lazy' | undefined;
}

/** The calls of a store that a clone uses. */
interface CloneTarget {
  readonly branches: {
    readonly current: string;
    list(options: BranchesOptions): Promise<readonly Branch[]>;
  };
  connect(transport: BucketTransport): Promise<BucketConnection>;
  close(): Promise<void>;
}

/** Implements the exported `clone`. */
export async function cloneStore<Db extends CloneTarget>(
  open: (name: string, options?: OpenOptions) => Promise<Db>,
  name: string,
  transport: BucketTransport,
  options: CloneOptions = {},
): Promise<{ readonly db: Db; readonly connection: BucketConnection }> {
  checkPlain('clone', options);
  const { signal, onProgress, mode = 'full', ...opening } = options;
  if (mode !== 'full' && mode !== 'lazy') {
    throw new HedgerowError('invalid-argument', "clone: mode is 'full' or 'lazy'");
  }
  if (memberOf(transport, 'kind') !== 'bucket') {
    throw new HedgerowError('invalid-argument', 'clone takes bucket(remote), of hedgerow/sync');
  }
  const lazy = mode === 'lazy' ? await lazyOpening(opening) : undefined;
  const job = optionsOf('clone', { signal, onProgress }, PULL_OPTIONS);
  const { remote } = transport;
  checkedRemote('clone', remote);
  checkPlain('bucket', transport.options);
  const work = async (own: AbortSignal | undefined) => {
    checkSignal(own);
    const db = await open(name, lazy?.opening ?? opening);
    try {
      checkSignal(own);
      await checkFree(db, transport.options.name);
      const begun = lazy?.begin(remote, own);
      const from = (begun as unknown as Remote | undefined) ?? remote;
      const connection = await db.connect({ ...transport, remote: from });
      if (begun?.isBegun !== true) await connection.pull({ ...job, signal: own });
      return { db, connection };
    } catch (cause) {
      await db.close();
      throw cause;
    }
  };
  return ending(signal, work, { drop: ({ db }) => void db.close() }).result;
}

/** Throws `invalid-argument` if the store has rows, but no rows of this remote. Does not write. */
async function checkFree(db: CloneTarget, name = 'origin'): Promise<void> {
  const branches = await db.branches.list({ remotes: true });
  const rootOf = (wanted: string) => branches.find((one) => one.name === wanted)?.root;
  const hasRows = (root = '') => /[^0]/.test(root);
  const own = db.branches.current;
  if (!hasRows(rootOf(own)) || hasRows(rootOf(originOf(name)))) return;
  throw new HedgerowError(
    'invalid-argument',
    `clone needs a store without rows, or a clone of this remote: ${own} has rows. destroy() it, or take another name`,
  );
}

/** Returns the options that open a lazy clone, and a function that makes its remote once the store is open. */
async function lazyOpening({ encryption, ...opening }: OpenOptions) {
  const { LazyRemote, LazyStorage } = await part(
    () => import('../sync/lazy/on-demand-lazy-bundle.js'),
  );
  let segments: (() => LazySegments | undefined) | undefined;
  // Above the encryption, whose tables name the chunks at the remote; over the fallback, too, if it is used.
  const over = (place: Storage): Storage => {
    const storage = new LazyStorage(encryption?.over(place) ?? place);
    segments = () => storage.segments;
    return storage;
  };
  const begin = (remote: Remote, signal: AbortSignal | undefined): LazyRemote =>
    new LazyRemote(remote, segments?.() as LazySegments, signal);
  return { opening: { ...opening, encryption: { over } }, begin };
}
