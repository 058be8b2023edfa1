/** Patches: changes from a server, applied as a whole or not at all. */

import { HedgerowError } from '../../base/errors.js';
import type { ByteFormat, ByteSource } from '../../base/read-bytes.js';
import type { Host } from '../../core/engine-host.js';
import type { BranchHead } from '../history/branch-head.js';
import type { IngestResult } from './ingest.js';
import { type BulkJob, type PutManyOptions, putMany } from './put-many.js';
import type { Source } from './source.js';

/**
 * An operation of a patch: one of Replicache, or a change that `diff`, `changes` or `watch` gave. Other members are
 * ignored, except that a change of an index, which has `secondary`, is refused.
 */
export type PatchOperation =
  /** The row gets this value. */
  | { readonly op: 'put'; readonly key: string; readonly value: unknown }
  /** Deletes the row, if it exists. */
  | { readonly op: 'del'; readonly key: string }
  /** Deletes all rows. */
  | { readonly op: 'clear' }
  /**
   * The row becomes `{ ...row, ...merge }`, or `merge` if it does not exist. Then the members that `unset` names are
   * removed, and a non-empty `constrain` removes all that it does not name. If the row is not an object, the whole patch fails, unless a later put,
   * delete or clear of the patch overrides this operation.
   */
  | {
      readonly op: 'update';
      readonly key: string;
      readonly merge?: Readonly<Record<string, unknown>> | undefined;
      readonly unset?: readonly string[] | undefined;
      readonly constrain?: readonly string[] | undefined;
    }
  /** The row gets the new value, regardless of its old one. */
  | { readonly op: 'add' | 'change'; readonly key: string; readonly newValue: unknown };

/** Operations, or their bytes: NDJSON or one JSON array. */
export type Patch = Source<PatchOperation> | ByteSource;

/** How a patch is applied. */
export interface PatchOptions
  extends Pick<PutManyOptions<unknown>, 'signal' | 'onProgress' | 'durability'> {
  /** The format of bytes; by default it is detected from their start. */
  readonly format?: ByteFormat | undefined;
}

/** Applies a patch in one commit. */
export async function applyPatch(
  host: Host,
  branchHead: BranchHead,
  patch: Patch,
  options: PatchOptions & Pick<BulkJob<unknown>, 'durability' | 'after'>,
): Promise<IngestResult> {
  try {
    const job = { ...options, isPatch: true };
    return await putMany(host, branchHead, patch as Source<PatchOperation>, job);
  } catch (cause) {
    if (!(cause instanceof HedgerowError) || cause.row === undefined) throw cause;
    const { row, offset, pointer } = cause;
    const message = `operation ${row}: ${cause.message}`;
    throw new HedgerowError('invalid-patch', message, { cause, row, offset, pointer });
  }
}
