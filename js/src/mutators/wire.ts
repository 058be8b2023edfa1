/** Requests to the app's own server: those of Replicache. */
import { HedgerowError } from '../base/errors.js';
import { type Answer, exchange, refused } from '../remote/adapters/exchange.js';
import { badResponse, PAGE } from './pull-body.js';
import type { Endpoint, MutatorOptions, Mutators } from './types.js';

/** What an answer says instead of the state: this store is unknown, or its version. */
export type Refusal = 'unknown-client' | HedgerowError | undefined;

/** Finds out whether the members of an answer refuse. */
export function refusalOf(member: (name: string) => unknown): Refusal {
  const error = member('error');
  if (error === undefined) return undefined;
  if (error === 'ClientStateNotFound') return 'unknown-client';
  if (error !== 'VersionNotSupported') return badResponse(`it answers ${JSON.stringify(error)}`);
  const type = member('versionType');
  const what = typeof type === 'string' ? ` of ${type}` : '';
  return new HedgerowError('unsupported-format', `it refuses this version${what}: update the app`);
}

export class Wire {
  readonly #options: Pick<MutatorOptions<Mutators>, 'auth' | 'pull' | 'push'>;
  #auth: string | undefined;

  constructor(options: Pick<MutatorOptions<Mutators>, 'auth' | 'pull' | 'push'>) {
    this.#options = options;
  }

  /** Sends a request. Resolves to an answer of status 200; another one rejects with the codes of remotes. */
  async send(
    what: 'pull' | 'push',
    request: object,
    signal: AbortSignal | undefined,
  ): Promise<Answer> {
    const isAsked = this.#options.auth !== undefined;
    if (isAsked && this.#auth === undefined) await this.#ask();
    let answer = await this.#once(what, request, signal);
    if (answer.status === 401 && isAsked) {
      answer.drop();
      await this.#ask();
      answer = await this.#once(what, request, signal);
      if (answer.status === 401) this.#auth = undefined;
    }
    if (answer.status !== 200) throw await refused(what, answer);
    if (/^text\/html/i.test(answer.header('content-type') ?? '')) {
      answer.drop();
      throw badResponse(PAGE);
    }
    return answer;
  }

  async #ask(): Promise<void> {
    try {
      this.#auth = await this.#options.auth?.();
    } catch (cause) {
      throw new HedgerowError('remote-auth', 'auth failed', { cause });
    }
  }

  #once(what: 'pull' | 'push', request: object, signal: AbortSignal | undefined): Promise<Answer> {
    const endpoint = this.#options[what] as Endpoint<object>;
    const auth = this.#auth;
    const isFunction = typeof endpoint === 'function';
    const fetch = async (url: string, init: RequestInit): Promise<Response> =>
      isFunction
        ? endpoint(request, { signal: init.signal as AbortSignal, auth })
        : globalThis.fetch(url, init);
    const { url, headers } = isFunction ? { url: '', headers: {} } : endpoint;
    return exchange(fetch, {
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
    });
  }
}
