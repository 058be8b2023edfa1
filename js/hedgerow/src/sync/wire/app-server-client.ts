/** Sends requests to the app's own server. */
import { kindOf } from '../../base/runtime-type-checks.js';
import { exchange, type HttpAnswer, readRefusal } from '../remote/adapters/http-exchange.js';
import { askApp } from '../remote/ask-app-credentials.js';
import { AppFunctionFailure, callAppFunction, isResponse } from './app-request-function.js';
import type { Endpoint, WireOptions } from './app-server-options.js';
import { badResponse, PAGE } from './pull-response-body.js';

export class Wire {
  readonly #options: WireOptions;
  #auth: string | undefined;

  constructor(options: WireOptions) {
    this.#options = options;
  }

  /** Sends a request. Resolves to an answer of status 200 or 204; rejects with the codes of remotes for another one. */
  async send(
    what: 'pull' | 'push',
    request: object,
    signal: AbortSignal | undefined,
  ): Promise<HttpAnswer> {
    const isAsked = this.#options.auth !== undefined;
    if (isAsked && this.#auth === undefined) await this.#ask(signal);
    let answer = await this.#once(what, request, signal);
    if (answer.status === 401 && isAsked) {
      answer.drop();
      await this.#ask(signal);
      answer = await this.#once(what, request, signal);
      if (answer.status === 401) this.#auth = undefined;
    }
    if (answer.status !== 200 && answer.status !== 204) throw await readRefusal(what, answer);
    if (/^text\/html/i.test(answer.header('content-type') ?? '')) {
      answer.drop();
      throw badResponse(PAGE);
    }
    return answer;
  }

  async #ask(signal: AbortSignal | undefined): Promise<void> {
    this.#auth = await askApp('auth', () => this.#options.auth?.(), signal);
  }

  #once(
    what: 'pull' | 'push',
    request: object,
    signal: AbortSignal | undefined,
  ): Promise<HttpAnswer> {
    const endpoint = this.#options[what] as Endpoint<object>;
    const auth = this.#auth;
    const isFunction = typeof endpoint === 'function';
    const fetch = async (url: string, init: RequestInit): Promise<Response> => {
      if (!isFunction) return globalThis.fetch(url, init);
      const signal = init.signal as AbortSignal;
      const answer: unknown = await callAppFunction(() => endpoint(request, { signal, auth }));
      if (isResponse(answer)) return answer;
      throw badResponse(`the function ${what} gave no Response, but ${kindOf(answer)}`);
    };
    const { url, headers } = isFunction ? { url: '', headers: {} } : endpoint;
    const answered = exchange(fetch, {
      method: 'POST',
      url,
      headers: {
        ...headers,
        'Content-Type': 'application/json',
        ...(auth !== undefined && { Authorization: auth }),
      },
      body: isFunction ? undefined : new TextEncoder().encode(JSON.stringify(request)),
      cache: 'no-store',
      signal,
      passes: (cause) => cause instanceof AppFunctionFailure,
    });
    return answered.catch((cause: unknown) => {
      throw cause instanceof AppFunctionFailure ? cause.cause : cause;
    });
  }
}
