/** Calls of a function of the app that makes a request: which of its failures are of the network. */

/** What such a function has thrown, and the network has not: the call that it was made for rejects with it as it is. */
export class Thrown {
  readonly cause: unknown;

  constructor(cause: unknown) {
    this.cause = cause;
  }
}

/** How `fetch` says that there was no answer: browsers, Node, Bun, Deno and React Native each in their own words. */
const FETCH_FAILED =
  /^(failed to fetch|fetch failed|load failed|network request failed|networkerror|network error|a network error|network connection lost|the internet connection appears|terminated|error sending request|unable to connect)/i;
/** Codes of Node's sockets, of its `fetch`, and of axios. */
const NETWORK_CODE =
  /^(ERR_NETWORK|UND_ERR_|E(CONN[A-Z]+|TIMEDOUT|AI_AGAIN|NOTFOUND|PIPE|HOST[A-Z]+|NET[A-Z]+)$)/;

/** Whether the network has failed, by what was thrown. */
function isOfNetwork(thrown: unknown): boolean {
  const { name, code, message, cause } = Object(thrown) as Record<string, unknown>;
  if (name === 'AbortError' || name === 'TimeoutError') return true;
  if (typeof code === 'string' && NETWORK_CODE.test(code)) return true;
  return name === 'TypeError' && (cause !== undefined || FETCH_FAILED.test(String(message)));
}

/** Calls the function. Rejects with `Thrown` unless the network has failed. */
export async function callOf<T>(make: () => T | PromiseLike<T>): Promise<T> {
  try {
    return await make();
  } catch (cause) {
    throw isOfNetwork(cause) ? cause : new Thrown(cause);
  }
}

/** Whether it is a `Response`: not by its class, since some platforms have one of their own. */
export function isResponse(answer: unknown): answer is Response {
  return typeof (answer as Partial<Response> | undefined | null)?.headers?.get === 'function';
}
