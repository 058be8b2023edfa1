/** Calls of a function of the app that makes a request: which of its failures are of the network. */
import { isOfNetwork } from '../remote/ask-app.js';

/** What such a function has thrown, and the network has not: the call that it was made for rejects with it as it is. */
export class AppFunctionFailure {
  readonly cause: unknown;

  constructor(cause: unknown) {
    this.cause = cause;
  }
}

/** Calls the function. Rejects with `Thrown` unless the network has failed. */
export async function callAppFunction<T>(make: () => T | PromiseLike<T>): Promise<T> {
  try {
    return await make();
  } catch (cause) {
    throw isOfNetwork(cause) ? cause : new AppFunctionFailure(cause);
  }
}

/** Whether it is a `Response`: not by its class, since some platforms have one of their own. */
export function isResponse(answer: unknown): answer is Response {
  return typeof (answer as Partial<Response> | undefined | null)?.headers?.get === 'function';
}
