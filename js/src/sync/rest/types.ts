/** The types of a server of plain rows, and of what it is told. */

import type { Progress } from '../../engine/write/ingest-result.js';
import type { Durability } from '../../storage/segment-store.js';
import type { SyncOptions } from '../link/loop.js';
import type { ConflictPolicy } from '../link/policy.js';
import type { Endpoint } from '../wire/endpoint.js';

/** How a store is pulled. */
export interface PullJob {
  readonly signal?: AbortSignal | undefined;
  /** Called at most once every 16 ms as rows come, and when they are stored; not for a pull without rows. */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}

/** How the store is kept in sync with its server: as of `link.sync`. */
export type RestSyncOptions = Pick<
  SyncOptions,
  'everyMs' | 'pauseMs' | 'pokes' | 'onState' | 'onPull'
> &
  Pick<PullJob, 'onProgress'>;

/** What a pull sends. */
export interface RestPullRequest {
  /** What the last pull brought; `null` before the first, which is answered with all rows. */
  readonly cookie: unknown;
}

/** An answer of a pull, if it is no `Response`. */
export interface RestPulled {
  /** Any JSON but `undefined`: it comes back with the next pull. */
  readonly cookie: unknown;
  /** What has changed since the cookie: operations as of `db.applyPatch`. */
  readonly patch: readonly object[];
}

/** A row that is to change at the server. */
export type RowChange = (
  | { readonly op: 'put'; readonly value: unknown }
  | { readonly op: 'del'; readonly value?: undefined }
) & {
  readonly key: string;
  /** The row of the server, as it was last known here; `undefined` if there was none. */
  readonly before?: unknown;
};

/** What a push sends: at most one change of a key, in the order of keys. */
export interface RestPushRequest {
  readonly changes: readonly RowChange[];
}

/** An answer of a push, if it is no `Response`. All that is not refused is accepted. */
export interface RestPushed {
  readonly refused?:
    | readonly (string | { readonly key: string; readonly why?: unknown })[]
    | undefined;
}

/** A change that the server refused. Its row here is that of the server again, unless it was changed since. */
export type RefusedChange = RowChange & {
  /** What the server said of it. */
  readonly why: unknown;
};

type Answer<T> = Response | T | undefined;
type How = { readonly signal: AbortSignal; readonly auth: string | undefined };

/** As `Endpoint`, and a function may answer with an object; with nothing when there is nothing new, or nothing refused. */
export type RestEndpoint<Request, Told> =
  | Exclude<Endpoint<Request>, (...args: never) => unknown>
  | ((request: Request, how: How) => Answer<Told> | PromiseLike<Answer<Told>>);

/** How a store is bound to a server of plain rows. */
export interface RestOptions {
  readonly pull: RestEndpoint<RestPullRequest, RestPulled>;
  readonly push: RestEndpoint<RestPushRequest, RestPushed>;
  /** What the store calls this server; `server` by default. Its branches are `remote/<name>` and below. */
  readonly name?: string | undefined;
  /** What becomes of a row that both sides have changed; `'fields'` by default. A function may ask a person. */
  readonly policy?: ConflictPolicy | undefined;
  /** The value of the header `Authorization`. Kept until the server answers 401: then asked again, once for a request. */
  readonly auth?: (() => string | PromiseLike<string>) | undefined;
  /** As of `mutators`. */
  readonly maxPullBytes?: number | undefined;
  readonly maxPushBytes?: number | undefined;
  /** Instead of the store's. */
  readonly durability?: Durability | undefined;
  /** Called for each change that the server refused, once it is in the log of conflicts. */
  readonly onRefused?: ((change: RefusedChange) => void) | undefined;
}
