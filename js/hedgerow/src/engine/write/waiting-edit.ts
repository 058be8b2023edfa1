import { durabilityCheck, type OptionsOf, signalCheck } from '../../base/check-options.js';
import type { Overrides } from '../history/branch-head.js';

/** A put or a delete of one key. */
export interface Edit {
  /** JSON text. */
  readonly key: string;
  /** JSON text or bytes; absent for a delete. */
  readonly value?: string | Uint8Array | undefined;
  /** The overrides of the bulk changes in progress at the call. */
  readonly over: readonly Overrides[];
}

export const EDIT_OPTIONS = {
  /** Overrides the durability of the store. The edits of one turn share a commit, which is strict if one of them is. */
  durability: durabilityCheck,
  /** Takes the edit back while it waits for its commit; from then on the outcome of the commit decides. */
  signal: signalCheck,
};

/** Options of a put or delete of one row. */
export interface EditOptions extends OptionsOf<typeof EDIT_OPTIONS> {}

/** An edit that waits for its commit. */
export interface WaitingEdit extends Edit {
  readonly options: EditOptions | undefined;
  resolve(): void;
  reject(cause: unknown): void;
}
