/**
 * `@hedgerow/server`: the reference server, which gives any remote (a folder, most often) an address. It reads and
 * writes as `docs/sync.md` says a server must, and reports swaps by server-sent events. Clients do not trust it: they
 * check every byte.
 */
import {
  type ByteRange,
  builtin,
  checkedRemote,
  checkPrefix,
  HedgerowError,
  kindOfError,
  MAX_OBJECT_BYTES,
  maxBytesOf,
  optionsOf,
  type ParsedName,
} from 'hedgerow/kit';
import { parseName, type Remote } from 'hedgerow/sync';
import { slicedName } from './hash-in-slices.js';
import {
  bodyOf,
  type Crypto,
  type Http,
  HttpRefusal,
  type HttpRequest,
  type HttpResponse,
} from './node-http.js';
import { RequestAccess, SERVER_OPTIONS, type ServerOptions } from './request-access.js';

export type { ServerOptions } from './request-access.js';

/** A running server. */
export interface RemoteServer {
  /** The address of the server, with a slash at the end: for `httpRemote`. */
  readonly url: string;
  /** Ends all connections. */
  close(): Promise<void>;
}

/** The statuses of answers, by the kinds of errors of remotes. */
const STATUSES: Readonly<Record<string, number>> = {
  'invalid-argument': 400,
  unauthorized: 403,
  'remote/gone': 404,
  offline: 503,
};
const IMMUTABLE = 'public, max-age=31536000, immutable, no-transform';
/** How often a stream of events says that it lives, in milliseconds: proxies end silent streams. */
const ALIVE_MS = 20_000;

class Server {
  readonly #remote: Remote;
  readonly #access: RequestAccess;
  readonly #listeners = new Set<HttpResponse>();

  constructor(remote: Remote, options: ServerOptions) {
    this.#remote = remote;
    this.#access = new RequestAccess(builtin<Crypto>('node:crypto', 'serveRemote'), options);
  }

  readonly handle = async (request: HttpRequest, response: HttpResponse): Promise<void> => {
    try {
      const origin = this.#access.originFor(request);
      if (origin !== undefined) response.setHeader('Access-Control-Allow-Origin', origin);
      if (origin !== '*') response.setHeader('Vary', 'Origin');
      await this.#handle(request, response);
    } catch (cause) {
      if (response.headersSent) return response.destroy();
      const kind = kindOfError(cause) ?? '';
      const status = cause instanceof HttpRefusal ? cause.status : (STATUSES[kind] ?? 500);
      this.#answer(response, status, {}, status < 500 ? String((cause as Error).message) : '');
    }
  };

  #answer(
    response: HttpResponse,
    status: number,
    headers: Readonly<Record<string, string>>,
    body?: string | Uint8Array,
  ): void {
    response.writeHead(status, {
      'Access-Control-Expose-Headers': 'ETag, Content-Range',
      'Content-Type': typeof body === 'string' ? 'text/plain' : 'application/octet-stream',
      ...headers,
    });
    response.end(body);
  }

  async #handle(request: HttpRequest, response: HttpResponse): Promise<void> {
    const { method } = request;
    if (method === 'OPTIONS') {
      return this.#answer(response, 204, {
        'Access-Control-Allow-Methods': 'GET, PUT, DELETE',
        'Access-Control-Allow-Headers':
          'authorization, cache-control, content-type, if-match, if-none-match, range',
        'Access-Control-Max-Age': '7200',
      });
    }
    this.#access.check(request);
    const url = new URL(request.url, 'http://localhost');
    const name = decodePath(url.pathname.slice(1));
    if (method === 'GET' && name === 'events') return this.#listen(response);
    if (method === 'GET' && name === '') return this.#list(url, response);
    const parsed = parseName(name);
    if (parsed === undefined) throw new HttpRefusal(404, 'no object has such a name');
    if (method === 'GET' && parsed.kind === 'head') {
      return this.#readHead(parsed.branch, request, response);
    }
    if (method === 'GET') return this.#get(name, request, response);
    if (method === 'DELETE') {
      await this.#remote.remove([name]);
      return this.#answer(response, 204, {});
    }
    if (method !== 'PUT') throw new HttpRefusal(405, 'GET, PUT or DELETE');
    const bytes = await bodyOf(request, maxBytesOf(name));
    if (parsed.kind === 'head') return this.#swap(parsed.branch, bytes, request, response);
    return this.#put(name, parsed, bytes, response);
  }

  async #readHead(branch: string, request: HttpRequest, response: HttpResponse): Promise<void> {
    const head = await this.#remote.readHead(branch);
    if (head === undefined) throw new HttpRefusal(404, 'there is no such head');
    const { token, modifiedMs } = head;
    const headers = {
      ETag: token,
      'Cache-Control': 'no-cache, no-transform',
      ...(modifiedMs !== undefined && { 'Last-Modified': new Date(modifiedMs).toUTCString() }),
    };
    if (request.headers['if-none-match'] === token) return this.#answer(response, 304, headers);
    return this.#answer(response, 200, headers, head.bytes);
  }

  async #get(name: string, request: HttpRequest, response: HttpResponse): Promise<void> {
    const cache = name === 'hedgerow' ? 'no-cache, no-transform' : IMMUTABLE;
    const headers = { 'Cache-Control': cache, 'Accept-Ranges': 'bytes' };
    const range = rangeOf(request.headers.range);
    const bytes = await this.#remote.get(name, range);
    if (bytes === undefined) throw new HttpRefusal(404, 'there is no such object');
    if (range === undefined) return this.#answer(response, 200, headers, bytes);
    if (bytes.length === 0) throw new HttpRefusal(416, 'the object ends before');
    const told = `bytes ${range.from}-${range.from + bytes.length - 1}/*`;
    return this.#answer(response, 206, { ...headers, 'Content-Range': told }, bytes);
  }

  async #put(name: string, parsed: ParsedName, bytes: Uint8Array, response: HttpResponse) {
    if (parsed.kind === 'pack' || parsed.kind === 'delta') {
      const right = await slicedName(parsed.kind === 'pack' ? 'p' : 'd', bytes);
      if (right !== name) throw new HttpRefusal(400, `these bytes have the name ${right}`);
    }
    const done = await this.#remote.put(name, bytes);
    return this.#answer(response, done === 'exists' ? 412 : 201, {});
  }

  async #swap(branch: string, bytes: Uint8Array, request: HttpRequest, response: HttpResponse) {
    const { 'if-match': token, 'if-none-match': none } = request.headers;
    if ((token === undefined) === (none === undefined) || (none ?? '*') !== '*') {
      throw new HttpRefusal(428, 'a head needs If-Match, or If-None-Match: *');
    }
    const swap = await this.#remote.swapHead(branch, token, bytes);
    if (swap.state === 'unknown') throw new HttpRefusal(503, swap.cause.message);
    if (swap.state === 'lost') throw new HttpRefusal(412, 'another writer was first');
    const event = JSON.stringify({ branch, token: swap.token });
    for (const listener of this.#listeners) listener.write(`data: ${event}\n\n`);
    return this.#answer(response, token === undefined ? 201 : 200, { ETag: swap.token });
  }

  async #list(url: URL, response: HttpResponse): Promise<void> {
    const prefix = url.searchParams.get('list') ?? '';
    checkPrefix(prefix);
    const headers = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' };
    this.#answer(response, 200, headers, JSON.stringify(await this.#remote.list(prefix)));
  }

  #listen(response: HttpResponse): void {
    response.writeHead(200, {
      'Content-Type': 'text/event-stream',
      'Cache-Control': 'no-store, no-transform',
    });
    response.write(': open\n\n');
    this.#listeners.add(response);
    const timer = setInterval(() => response.write(': alive\n\n'), ALIVE_MS);
    response.on('close', () => {
      clearInterval(timer);
      this.#listeners.delete(response);
    });
  }
}

/** Returns the range that a request asks for; `undefined` without one, and for other forms, which may be ignored. */
function rangeOf(asked = ''): ByteRange | undefined {
  const [, first, last] = /^bytes=(\d{1,15})-(\d{0,15})$/.exec(asked) ?? [];
  if (first === undefined) return undefined;
  const from = Number(first);
  const most = from + MAX_OBJECT_BYTES;
  const to = last ? Math.min(Number(last) + 1, most) : most;
  return to > from ? { from, to } : undefined;
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    throw new HttpRefusal(400, 'the path is no UTF-8');
  }
}

/** Serves `remote` over HTTP until it is closed. Rejects with the error of `listen`. */
export async function serveRemote(
  remote: Remote,
  options: ServerOptions = {},
): Promise<RemoteServer> {
  const given = optionsOf('serveRemote', options, SERVER_OPTIONS);
  const { port = 0, host = '127.0.0.1' } = given;
  if (!(Number.isInteger(port) && port >= 0 && port < 65_536)) {
    throw new HedgerowError('invalid-argument', 'serveRemote: port is from 0 to 65535');
  }
  const http = builtin<Http>('node:http', 'serveRemote');
  const { handle } = new Server(checkedRemote('serveRemote', remote), { ...given, host });
  const server = http.createServer(handle);
  await new Promise<void>((resolve, reject) => {
    server.on('error', reject);
    server.listen(port, host, resolve);
  });
  const shown = host.includes(':') ? `[${host}]` : host;
  return {
    url: `http://${shown}:${server.address().port}/`,
    close: () =>
      new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      }),
  };
}
