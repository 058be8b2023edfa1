/** The options of `rest`, and their checks. */

import {
  anything,
  durabilityCheck,
  fn,
  mandatory,
  type OptionsOf,
} from '../../base/check-options.js';
import type { ConflictPolicy } from '../link/conflict-policy.js';
import type {
  RefusedChange,
  RestEndpoint,
  RestPulled,
  RestPullRequest,
  RestPushed,
  RestPushRequest,
} from './types.js';

export const REST_OPTIONS = {
  pull: mandatory(anything<RestEndpoint<RestPullRequest, RestPulled>>()),
  push: mandatory(anything<RestEndpoint<RestPushRequest, RestPushed>>()),
  /** The store's name for this server; `server` by default. Its branches are `remote/<name>` and below. */
  name: anything<string>(),
  /** Decides a row that both sides have changed; `'fields'` by default. A function may ask a person. */
  policy: anything<ConflictPolicy>(),
  /** Returns the header `Authorization`. Kept until the server answers 401: then asked again, once for a request. */
  auth: anything<() => string | PromiseLike<string>>(),
  /** As for `mutators`. */
  maxPullBytes: anything<number>(),
  maxPushBytes: anything<number>(),
  /** Instead of the store's. */
  durability: durabilityCheck,
  /** Called for each change that the server refused, once it is in the log of conflicts. */
  onRefused: fn<(change: RefusedChange) => void>(),
};

/** The options that bind a store to a server of plain rows. */
export interface RestOptions extends OptionsOf<typeof REST_OPTIONS> {}
