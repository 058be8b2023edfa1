/** Patches: what a server says has changed, applied as a whole or not at all. */

import { HedgerowError } from '../base/errors.js';
import type { ByteFormat, ByteSource } from '../base/read-bytes.js';
import type { Host } from '../core/host.js';
import type { BranchHead } from '../history/branch-head.js';
import type { IngestResult } from './ingest.js';
import { type Job, type PutManyOptions, putMany } from './put-many.js';
import type { Source } from './source.js';

/**
 * One step of a patch: an operation of Replicache, or a change as `diff`, `changes` and `watch` give it. Members that it
 * does not name are ignored. A change of an index, which has `secondary`, is refused.
 */
export type PatchOperation =
  /** The row gets this value. */
  | { readonly op: 'put'; readonly key: string; readonly value: unknown }
  /** The row goes, if it is there. */
  | { readonly op: 'del'; readonly key: string }
  /** All rows go. */
  | { readonly op: 'clear' }
  /**
   * The row becomes `{ ...row, ...merge }`, or `merge` when it is not there; then only the
   * members of it stay that `constrain` names, if it names some. A row that holds no object refuses the patch, unless
   * a later operation of it has the last word on the row.
   */
  | {
      readonly op: 'update';
      readonly key: string;
      readonly merge?: Readonly<Record<string, unknown>> | undefined;
      readonly constrain?: readonly string[] | undefined;
    }
  /** The row gets the new value, whatever it was before. */
  | { readonly op: 'add' | 'change'; readonly key: string; readonly newValue: unknown };

/** Operations one by one, or bytes of them: NDJSON, or one JSON array. */
export type Patch = Source<PatchOperation> | ByteSource;

/** How a patch is applied. */
export interface PatchOptions
  extends Pick<PutManyOptions<unknown>, 'signal' | 'onProgress' | 'durability'> {
  /** How operations follow each other in bytes; found out from the first of them by default. */
  readonly format?: ByteFormat | undefined;
}

/** Applies a patch in one commit. */
export async function applyPatch(
  host: Host,
  branchHead: BranchHead,
  patch: Patch,
  { signal, onProgress, durability, format }: PatchOptions & Pick<Job<unknown>, 'durability'>,
): Promise<IngestResult> {
  const job = { signal, onProgress, durability, format, isPatch: true };
  try {
    return await putMany(host, branchHead, patch as Source<PatchOperation>, job);
  } catch (cause) {
    if (!(cause instanceof HedgerowError) || cause.row === undefined) throw cause;
    const { row, offset, pointer } = cause;
    const message = `operation ${row}: ${cause.message}`;
    throw new HedgerowError('invalid-patch', message, { cause, row, offset, pointer });
  }
}
