/** The options of `mutators`, and their checks. */

import {
  anything,
  durabilityCheck,
  fn,
  mandatory,
  type OptionsOf,
} from '../../base/check-options.js';
import { type Endpoint, WIRE_OPTIONS, type WireOptions } from '../wire/app-server-options.js';
import type { Mutators, PullRequest, PushRequest, ServerReset } from './types.js';

export const MUTATOR_OPTIONS = {
  mutators: mandatory(anything<Mutators>()),
  pull: mandatory(anything<Endpoint<PullRequest>>()),
  push: mandatory(anything<Endpoint<PushRequest>>()),
  auth: WIRE_OPTIONS.auth,
  /** Sent along, for the server; '' by default. */
  schemaVersion: anything<string>(),
  maxPullBytes: WIRE_OPTIONS.maxPullBytes,
  maxPushBytes: WIRE_OPTIONS.maxPushBytes,
  /** Instead of the store's. */
  durability: durabilityCheck,
  /**
   * Allows plain writes, merges and reverts of this branch; the next pull with news undoes them. By default they are
   * `invalid-argument`.
   */
  localWrites: anything<boolean>(),
  /** Called when the server no longer knew this store. */
  onReset: fn<(reset: ServerReset) => void>(),
};

/** The options that bind a store to the app's own server. */
export interface MutatorOptions<M extends Mutators>
  extends WireOptions,
    OptionsOf<typeof MUTATOR_OPTIONS> {
  readonly mutators: M;
  readonly pull: Endpoint<PullRequest>;
  readonly push: Endpoint<PushRequest>;
}
