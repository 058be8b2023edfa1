/** Patches: changes from a server, applied as a whole or not at all. */

import type { ByteSource } from '../../base/byte-source.js';
import { HedgerowError } from '../../base/errors.js';
import type { Host } from '../../core/operation-host.js';
import type { BranchHead } from '../history/branch-head.js';
import { putMany } from './bulk-change.js';
import type { BulkJob, LoadOptions } from './bulk-options.js';
import type { WriteResult } from './ingest.js';
import type { Source } from './source-kind.js';

/**
 * An operation of a patch: its own, or a change from `history.diff`, `history.since` or `watch`. Other members are
 * ignored, except that a change of an index, which has `secondary`, is refused. Patches of Replicache are read, too: there
 * `del` is `delete`. So are `add` and `change`, former names of `insert` and `update`.
 */
export type PatchOperation =
  /** Gives the row this value. */
  | { readonly op: 'put'; readonly key: string; readonly value: unknown }
  /** Deletes the row, if it exists. */
  | { readonly op: 'delete' | 'del'; readonly key: string }
  /** Deletes all rows. */
  | { readonly op: 'clear' }
  /**
   * Changes the row to `{ ...row, ...merge }`, or to `merge` if it does not exist. Then removes the members that
   * `unset` names, and, with a non-empty `constrain`, all members that it does not name. If the row is not an object,
   * the whole patch fails, unless a later put, delete or clear of the patch overrides this operation.
   */
  | {
      readonly op: 'update';
      readonly key: string;
      readonly merge?: Readonly<Record<string, unknown>> | undefined;
      readonly unset?: readonly string[] | undefined;
      readonly constrain?: readonly string[] | undefined;
      readonly newValue?: undefined;
    }
  /** Gives the row the new value, regardless of its old one. */
  | {
      readonly op: 'insert' | 'update' | 'add' | 'change';
      readonly key: string;
      readonly newValue: unknown;
    };

/** Operations, or their bytes: NDJSON or one JSON array. */
export type Patch = Source<PatchOperation> | ByteSource;

/** Options of a patch. */
export interface PatchOptions extends LoadOptions {}

/** Applies a patch in one commit. */
export async function applyPatch(
  host: Host,
  branchHead: BranchHead,
  patch: Patch,
  options: PatchOptions & Pick<BulkJob<unknown>, 'durability' | 'after'>,
): Promise<WriteResult> {
  try {
    const job = { ...options, isPatch: true };
    return await putMany(host, branchHead, patch as Source<PatchOperation>, job);
  } catch (cause) {
    if (!(cause instanceof HedgerowError) || cause.row === undefined) throw cause;
    const { row, offset, pointer } = cause;
    const message = `operation ${row}: ${cause.message}`;
    throw new HedgerowError('invalid-data/patch', message, { cause, row, offset, pointer });
  }
}
