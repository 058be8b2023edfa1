/** The options that say where the server of an app is. */
import { anything, mandatory, type OptionsOf } from '../../base/check-options.js';
import type { HedgerowError } from '../../base/errors.js';
import { memberOf } from '../../base/runtime-type-checks.js';

/** The way of a request: a function that makes it, or an address that it is sent to by POST, as JSON. */
export type Endpoint<Request> =
  | { readonly url: string; readonly headers?: Readonly<Record<string, string>> | undefined }
  | ((
      request: Request,
      how: { readonly signal: AbortSignal; readonly auth: string | undefined },
    ) => Response | PromiseLike<Response>);

export const WIRE_OPTIONS = {
  // biome-ignore lint/suspicious/noExplicitAny: each kind of server has requests of its own
  pull: mandatory(anything<Endpoint<any>>()),
  // biome-ignore lint/suspicious/noExplicitAny: the same
  push: mandatory(anything<Endpoint<any>>()),
  /** Returns the header `Authorization`, kept until an answer 401: then asked again, once a request. It has 30 s. */
  auth: anything<() => string | PromiseLike<string>>(),
  /** Longest response of a pull, in bytes; 1 GiB by default. */
  maxPullBytes: anything<number>(),
  /**
   * Most bytes of the content of a push request, in UTF-8; 256 KiB by default. One row, or call, may be larger. A
   * request that a server refuses with 413 is sent in halves.
   */
  maxPushBytes: anything<number>(),
};

/** The requests to an app's own server. */
export interface WireOptions extends OptionsOf<typeof WIRE_OPTIONS> {}

/** Longest answer of a pull, in bytes, unless an app says otherwise. */
export const MAX_PULL_BYTES = 2 ** 30;

/** Most bytes of the content of a push request, unless an app says otherwise: less than most servers take. */
export const MAX_PUSH_BYTES = 256 << 10;

const isAbove0 = (size: unknown): boolean => typeof size === 'number' && size > 0;

/** Returns whether a server refuses a request for its size. */
export const isTooLarge = (cause: unknown): boolean =>
  (cause as Partial<HedgerowError> | undefined)?.status === 413;

/** Lists what is wrong with these options, for a message. */
export function wireFaults({
  pull,
  push,
  auth,
  maxPullBytes = 1,
  maxPushBytes = 1,
}: WireOptions): string[] {
  const isPlace = (place: unknown) =>
    typeof place === 'function' || typeof memberOf(place, 'url') === 'string';
  const faults = [
    !(isPlace(pull) && isPlace(push)) && 'pull and push are functions, or have a url',
    !(auth === undefined || typeof auth === 'function') && 'auth is a function',
    !isAbove0(maxPullBytes) && 'maxPullBytes is above 0',
    !isAbove0(maxPushBytes) && 'maxPushBytes is above 0',
  ];
  return faults.filter((fault) => fault !== false);
}
