/** Calls functions of the app that make requests, and finds which of their failures are of the network. */
import { isOfNetwork } from '../remote/ask-app-credentials.js';

/** An error of such a function, and not of the network: the call that needed the function rejects with it as it is. */
export class AppFunctionFailure {
  readonly cause: unknown;

  constructor(cause: unknown) {
    this.cause = cause;
  }
}

/** Calls the function. Rejects with an `AppFunctionFailure` unless the network has failed. */
export async function callAppFunction<T>(make: () => T | PromiseLike<T>): Promise<T> {
  try {
    return await make();
  } catch (cause) {
    throw isOfNetwork(cause) ? cause : new AppFunctionFailure(cause);
  }
}

/** Returns whether an answer is a `Response`, but not by its class: some platforms have their own. */
export function isResponse(answer: unknown): answer is Response {
  return typeof (answer as Partial<Response> | undefined | null)?.headers?.get === 'function';
}
