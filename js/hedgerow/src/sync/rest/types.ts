/** The types of a server of plain rows: its requests, answers and options. */

import type { Endpoint } from '../wire/app-server-options.js';

/** The request of a pull. */
export interface RestPullRequest {
  /** The cookie of the last pull; `null` before the first, whose answer has all rows. */
  readonly cookie: unknown;
}

/** The answer of a pull, if it is no `Response`. */
export interface RestPulled {
  /** Any JSON but `null`: it comes back with the next pull. */
  readonly cookie: unknown;
  /** The changes since the cookie: operations as for `db.applyPatch`. */
  readonly patch: readonly object[];
}

/** A row to change at the server. */
export type RestChange = (
  | { readonly op: 'put'; readonly value: unknown }
  | { readonly op: 'delete'; readonly value?: undefined }
) & {
  readonly key: string;
  /** The row of the server, as it was last known here; `undefined` if it did not exist. */
  readonly before?: unknown;
};

/** The request of a push: at most one change of a key, in the order of keys. */
export interface RestPushRequest {
  readonly changes: readonly RestChange[];
}

/** The answer of a push, if it is no `Response`. Changes that it does not name are accepted. */
export interface RestPushed {
  readonly refused?:
    | readonly (string | { readonly key: string; readonly why?: unknown })[]
    | undefined;
}

/** A change that the server refused. Its row here is the server's again, unless it was changed since. */
export type RefusedChange = RestChange & {
  /** The server's reason. */
  readonly why: unknown;
};

type Answer<T> = Response | T | undefined;
type How = { readonly signal: AbortSignal; readonly auth: string | undefined };

/** As `Endpoint`, and a function may answer with an object; with `undefined` if there is no news, or no refusal. */
export type RestEndpoint<Request, Told> =
  | Exclude<Endpoint<Request>, (...args: never) => unknown>
  | ((request: Request, how: How) => Answer<Told> | PromiseLike<Answer<Told>>);
