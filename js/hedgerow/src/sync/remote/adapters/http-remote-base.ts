/** The calls of a remote over HTTP, as S3 and the reference server have them in common. */
import { headName } from '../object-names.js';
import type {
  ByteRange,
  ReadHeadOptions,
  Remote,
  RemoteHead,
  RemoteOptions,
  Swap,
} from '../remote.js';
import {
  exchange,
  type FetchFunction,
  type HttpAnswer,
  type Request,
  readRefusal,
} from './http-exchange.js';
import { headPace } from './minimum-transfer-speed.js';
import { ObjectReads } from './resumable-object-reads.js';
import { Swapper, untilNoConflict } from './swap-head-over-http.js';
import { checkNoPage, headOf, unchangedHeaders } from './web-answer.js';

/** The methods of remotes. */
type Method = 'GET' | 'PUT' | 'DELETE';

/** A request that an adapter finds a route for. */
export interface RouteRequest {
  readonly method: Method;
  /** `undefined` for lists. */
  readonly name: string | undefined;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal | undefined;
}

/** Finds the address of a request: each adapter knows it for its store. Called again after a 401. */
export type Route = (request: RouteRequest) => Promise<Pick<Request, 'url' | 'headers'>>;

/** Requests of `remove` at the same time. */
const MAX_DELETES = 4;

const makeCacheHeaders = (how: string) => ({
  'Content-Type': 'application/octet-stream',
  'Cache-Control': `${how}, no-transform`,
});
const HEAD_HEADERS = makeCacheHeaders('no-cache');
const OBJECT_HEADERS = makeCacheHeaders('public, max-age=31536000, immutable');

type SendOptions = Partial<Pick<Request, 'headers' | 'body' | 'cache' | 'signal' | 'pace'>> & {
  readonly query?: Readonly<Record<string, string>>;
};

/** All calls but `list`. */
export class WebRemote implements Omit<Remote, 'list'> {
  readonly #fetch: FetchFunction;
  readonly #route: Route;
  readonly #swapper = new Swapper();
  readonly #reads = new ObjectReads();

  constructor(fetch: FetchFunction, route: Route) {
    this.#fetch = fetch;
    this.#route = route;
  }

  /** Makes a request for the object `name`, or for a list. */
  async send(method: Method, name: string | undefined, sent: SendOptions): Promise<HttpAnswer> {
    // No cache answers a PUT. But Chromium sends a preflight before each request that is to pass its cache, which
    // `default` does, too, with If-Match.
    const usual = method === 'PUT' ? 'force-cache' : 'no-store';
    const { headers = {}, query = {}, cache = usual, signal } = sent;
    const routed = { method, name, query, headers, signal };
    const send = (to: Awaited<ReturnType<Route>>) =>
      exchange(this.#fetch, {
        ...{ method, url: to.url, headers: { ...headers, ...to.headers } },
        ...{ body: sent.body, cache, signal, pace: sent.pace },
      });
    const to = await this.#route(routed);
    const answer = await send(to);
    if (answer.status !== 401) return answer;
    // A token or address of the app may have expired.
    const next = await this.#route(routed);
    if (JSON.stringify(next) === JSON.stringify(to)) return answer;
    answer.drop();
    return send(next);
  }

  async readHead(branch: string, options: ReadHeadOptions = {}): Promise<RemoteHead | undefined> {
    const name = headName(branch);
    const { signal, pastCaches = false } = options;
    const query = pastCaches ? { 'x-id': String(Math.random()) } : {};
    const cache = pastCaches ? 'reload' : 'no-cache';
    return this.#head(name, { query, cache, signal });
  }

  async readHeadSince(branch: string, token: string, { signal }: RemoteOptions = {}) {
    const name = headName(branch);
    const headers = unchangedHeaders(token);
    const pace = headPace();
    const answer = await this.send('GET', name, { headers, cache: 'no-cache', signal, pace });
    if (answer.status === 304) {
      answer.drop();
      return 'unchanged';
    }
    // Browsers themselves ask whether the head is unchanged, and answer from their cache then. The answer is read to
    // its end: Chromium may drop an unread one from its cache, and the next answer would come whole.
    const head = await headOf(name, answer);
    return head?.token === token ? 'unchanged' : head;
  }

  async swapHead(
    branch: string,
    token: string | undefined,
    bytes: Uint8Array,
    { signal }: RemoteOptions = {},
  ): Promise<Swap> {
    const name = headName(branch);
    return this.#swapper.swap(name, token, bytes, {
      put: (condition) => {
        const headers = { ...HEAD_HEADERS, ...condition };
        return this.send('PUT', name, { headers, body: bytes, signal });
      },
      // Past the cache of the browser, which may have been filled before the swap of another device.
      read: () => this.#head(name, { cache: 'reload', signal }),
    });
  }

  async #head(name: string, sent: SendOptions): Promise<RemoteHead | undefined> {
    return headOf(name, await this.send('GET', name, { ...sent, pace: headPace() }));
  }

  async get(name: string, range?: ByteRange, { signal }: RemoteOptions = {}) {
    return this.#reads.get(name, range, (headers, pace) =>
      this.send('GET', name, { headers, signal, pace }),
    );
  }

  async put(name: string, bytes: Uint8Array, { signal }: RemoteOptions = {}) {
    const isConfig = name === 'hedgerow';
    const headers = isConfig ? { ...HEAD_HEADERS, 'If-None-Match': '*' } : OBJECT_HEADERS;
    const { answer } = await untilNoConflict(() =>
      this.send('PUT', name, { headers, body: bytes, signal }),
    );
    if (answer.status >= 300 && !(isConfig && answer.status === 412)) {
      throw await readRefusal(`PUT ${name}`, answer);
    }
    checkNoPage(`PUT ${name}`, answer);
    answer.drop();
    return answer.status === 412 ? 'exists' : 'put';
  }

  async remove(all: readonly string[], { signal }: RemoteOptions = {}): Promise<void> {
    const left = all[Symbol.iterator]();
    const faults: unknown[] = [];
    const removeOne = async (name: string) => {
      const answer = await this.send('DELETE', name, { signal });
      if (answer.status >= 300 && answer.status !== 404)
        throw await readRefusal(`DELETE ${name}`, answer);
      checkNoPage(`DELETE ${name}`, answer);
      answer.drop();
    };
    const work = async () => {
      for (const name of left) await removeOne(name).catch((cause) => faults.push(cause));
    };
    await Promise.all(Array.from({ length: MAX_DELETES }, work));
    if (faults.length > 0) throw faults[0];
  }
}
