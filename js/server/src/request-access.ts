/** Decides which requests are allowed: by tokens, or else by the address they name and the page that sends them. */
import {
  anyNumber,
  anything,
  flag,
  HedgerowError,
  type OptionsOf,
  shownAs,
  text,
} from 'hedgerow/kit';
import { type Crypto, HttpRefusal, type HttpRequest } from './node-http.js';

export const SERVER_OPTIONS = {
  /** A free port by default. */
  port: anyNumber,
  /** `'127.0.0.1'` by default: only this machine reaches the server. */
  host: text,
  /** The bearer token for reads and writes. Without any token everybody may do everything. */
  token: text,
  /** The token for reads only. */
  readToken: text,
  /** The token that also allows deletions. If only other tokens are given, no client may delete. */
  deleteToken: text,
  /** Whether reads need no token. */
  publicReads: flag,
  /**
   * The origins of the pages that may use the server; `'*'` for all. By default all if there is a token, which a
   * strange page does not know; otherwise no origin.
   */
  origin: anything<string | readonly string[]>(),
};

/** Options of `serveRemote`. */
export interface ServerOptions extends OptionsOf<typeof SERVER_OPTIONS> {}

/** The right that a method needs: each right includes the ones before it. */
const [READ, WRITE, DELETE] = [1, 2, 3];
const NEEDED: Readonly<Record<string, number>> = { PUT: WRITE, DELETE };

export class RequestAccess {
  readonly #crypto: Crypto;
  readonly #host: string;
  /** The hashes of the tokens, in the order of their rights. */
  readonly #tokens: readonly (readonly [right: number, hash: Uint8Array])[];
  readonly #publicRight: number;
  readonly #origins: readonly string[];

  /** Throws `invalid-argument` for an origin that no page has. */
  constructor(crypto: Crypto, options: ServerOptions) {
    this.#crypto = crypto;
    this.#host = (options.host ?? '').toLowerCase();
    const { readToken, token, deleteToken, publicReads = false } = options;
    this.#tokens = [readToken, token, deleteToken].flatMap((one, nth) =>
      one === undefined ? [] : [[READ + nth, this.#hash(`Bearer ${one}`)]],
    );
    this.#publicRight = publicReads ? READ : 0;
    const all = this.#tokens.length > 0 ? '*' : [];
    this.#origins = originsOf(options.origin ?? all);
  }

  #hash(text: string): Uint8Array {
    return this.#crypto.createHash('sha256').update(text).digest();
  }

  /**
   * Returns the origin whose pages may read the answer, if any. Throws an `HttpRefusal` for a page that may not use the
   * server, and without tokens for a request to another address: a page can point its own name to this machine.
   */
  originFor({ headers, socket }: HttpRequest): string | undefined {
    const { origin, host = '' } = headers;
    if (this.#tokens.length === 0) {
      const name = host.toLowerCase().replace(/:\d+$/, '');
      const address = (socket.localAddress ?? '').replace(/^::ffff:/, '');
      const own = ['localhost', this.#host, `[${this.#host}]`, address, `[${address}]`];
      if (!own.includes(name))
        throw new HttpRefusal(403, 'without a token it has only its own address');
    }
    if (this.#origins.includes('*')) return '*';
    if (origin === undefined || origin === `http://${host}`) return undefined;
    if (this.#origins.includes(origin)) return origin;
    throw new HttpRefusal(
      403,
      'pages of this origin may not use the server: start it with --origin',
    );
  }

  /** Throws an `HttpRefusal` for a request without the right that it needs; all wrong tokens take the same time. */
  check({ method, headers }: HttpRequest): void {
    if (this.#tokens.length === 0) return;
    const given = this.#hash(headers.authorization ?? '');
    let has = 0;
    for (const [right, hash] of this.#tokens) {
      if (this.#crypto.timingSafeEqual(given, hash)) has = right;
    }
    if (Math.max(has, this.#publicRight) >= (NEEDED[method] ?? READ)) return;
    if (has === 0) throw new HttpRefusal(401, 'the bearer token is missing or wrong');
    throw new HttpRefusal(403, 'the bearer token does not have this right');
  }
}

/** Returns the origins that an option names. Throws `invalid-argument` for one that no page has. */
function originsOf(given: string | readonly string[]): readonly string[] {
  let wrong: unknown = given;
  try {
    const origins = [given].flat();
    const at = origins.findIndex((one) => one !== '*' && !isOrigin(one));
    if (at < 0) return origins;
    wrong = origins[at];
  } catch {
    // A proxy may refuse to be read: it is no list of origins.
  }
  const message = `serveRemote: origin is such as https://app.example, or *, not ${shownAs(wrong)}`;
  throw new HedgerowError('invalid-argument', message);
}

function isOrigin(given: unknown): boolean {
  try {
    return new URL(given as string).origin === given;
  } catch {
    return false;
  }
}
