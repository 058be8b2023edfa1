/** Collections as the app or a loop calls them. Loaded at the first call. */

import { notify } from '../../base/call-callback-safely.js';
import { HedgerowError } from '../../base/errors.js';
import type { CollectOptions } from './collect-options.js';
import { collectRemote, isRemoteCollectionDue } from './collect-remote-garbage.js';
import type { BucketStartOptions } from './connection-state.js';
import type { SyncContext } from './link-context.js';
import type { CollectResult } from './remote-garbage-types.js';

const GRACE_MS = 7 * 86_400_000;
const MIN_GRACE_MS = 3_600_000;

/** Collects. Rejects with `invalid-argument` if the grace is too short. */
export async function collectNow(
  context: SyncContext,
  { graceMs = GRACE_MS, signal, onProgress }: CollectOptions,
): Promise<CollectResult> {
  if (typeof graceMs !== 'number' || !(graceMs >= MIN_GRACE_MS && graceMs < 2 ** 53)) {
    const message = `collect: graceMs is a number of milliseconds, from ${MIN_GRACE_MS} on: an hour`;
    throw new HedgerowError('invalid-argument', message);
  }
  return collectRemote(context, {
    ...{ graceMs, signal },
    onProgress: (progress) => notify(onProgress, progress),
  });
}

/** Collects for a loop if it is time, and reports the outcome. Resolves to whether to look again later. */
export async function collectIfDue(
  context: SyncContext,
  {
    collect: wanted,
    onCollect,
  }: {
    readonly collect: BucketStartOptions['collect'];
    readonly onCollect: (outcome: CollectResult | HedgerowError) => void;
  },
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const graceMs = typeof wanted === 'object' ? wanted.graceMs : undefined;
  try {
    if (!(await isRemoteCollectionDue(context, signal))) return true;
    onCollect(await collectNow(context, { graceMs, signal }));
    return true;
  } catch (cause) {
    if (signal?.aborted === true || !(cause instanceof HedgerowError)) throw cause;
    onCollect(cause);
    // Trying again gives no right to list or to delete.
    return cause.code !== 'unauthorized';
  }
}
