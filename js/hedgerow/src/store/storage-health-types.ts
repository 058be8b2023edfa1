/** The types of the health of storage. */
import type { HedgerowError } from '../base/errors.js';
import type { Persistence } from '../base/origin-storage-estimate.js';
import type { CallKind } from '../storage/report-outcomes.js';
import type { Storage } from '../storage/segment-store.js';

/** See `Health.state`. */
export type HealthState = 'persistent' | 'best-effort' | 'ephemeral' | 'failing';

/** How healthy the storage of a store is. */
export interface Health extends Persistence {
  /**
   * - `failing`: the last write, or the last read, of storage failed; `cause` has the error.
   * - `ephemeral`: rows are gone when the page, the process or the private window is closed.
   * - `persistent`: rows stay until they are deleted.
   * - `best-effort`: the browser may delete them, or does not say that it will not.
   *
   * The first that applies.
   */
  readonly state: HealthState;
  /** The meaning of the state for the rows: a sentence for people. */
  readonly message: string;
  /** Why storage is `failing`, or why the store is in the `fallback` of `open`. */
  readonly cause: HedgerowError | undefined;
  /** Whether less than a tenth of the quota, or less than 64 MiB, is left; `undefined` where no quota is known. */
  readonly isNearQuota: boolean | undefined;
  /** Whether a strict write waits for the disk; `undefined` where the storage does not know. */
  readonly honoursStrict: boolean | undefined;
}

export type HealthListener = (health: Health) => void;

/** The health of storage as far as it is known without asking the platform. */
export interface KnownHealth {
  readonly storage: Storage;
  /** Why the fallback is in use. */
  readonly unavailable: HedgerowError | undefined;
  readonly honoursStrict: boolean | undefined;
  /** The errors of the last calls of each kind that failed. */
  readonly failures: { readonly [Kind in CallKind]?: HedgerowError | undefined };
  /** Listeners, each with the health at its last call as a text to compare. */
  readonly listeners: ReadonlySet<{ readonly listener: HealthListener; last?: string }>;
}
