/** How an app tells where its server is. */

/** How a request is made: a function that makes it, or where it is sent by POST, as JSON. */
export type Endpoint<Request> =
  | { readonly url: string; readonly headers?: Readonly<Record<string, string>> | undefined }
  | ((
      request: Request,
      how: { readonly signal: AbortSignal; readonly auth: string | undefined },
    ) => Response | PromiseLike<Response>);

/** The requests to an app's own server. */
export interface WireOptions {
  // biome-ignore lint/suspicious/noExplicitAny: each kind of server has requests of its own
  readonly pull: Endpoint<any>;
  // biome-ignore lint/suspicious/noExplicitAny: the same
  readonly push: Endpoint<any>;
  /** The value of the header `Authorization`. Kept until the server answers 401: then asked again, once for a request. */
  readonly auth?: (() => string | PromiseLike<string>) | undefined;
}

/** Longest answer of a pull, in bytes, unless an app says otherwise. */
export const MAX_PULL_BYTES = 2 ** 30;

/** What is wrong about these options, for a message. */
export function wireFaults({ pull, push, auth }: WireOptions, maxPullBytes = 1): string[] {
  const isPlace = (place: unknown) =>
    typeof place === 'function' ||
    typeof (place as { url?: unknown } | undefined)?.url === 'string';
  const faults = [
    !(isPlace(pull) && isPlace(push)) && 'pull and push are functions, or have a url',
    !(auth === undefined || typeof auth === 'function') && 'auth is a function',
    !(maxPullBytes > 0) && 'maxPullBytes is above 0',
  ];
  return faults.filter((fault) => fault !== false);
}
