/**
 * One request of HTTP and its answer, for all adapters of the web. It has a limit of bytes and of time without a byte,
 * follows no redirect, sends no cookie, and fails with the codes of `Remote`.
 */
import { joined } from '../../base/bytes.js';
import { HedgerowError } from '../../base/errors.js';
import { MAX_STALL_MS } from '../../base/limits.js';
import { checkSignal, until } from '../../base/signal.js';
import { afterAwake } from '../../base/timeout.js';
import { offlineFault, refusal, remoteFault } from '../faults.js';

export interface Request {
  readonly method: 'GET' | 'PUT' | 'DELETE' | 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | undefined;
  readonly cache: RequestCache;
  readonly signal: AbortSignal | undefined;
  /** Whether what `fetch` throws is no failure of the network: the request rejects with it. None is by default. */
  readonly passes?: (cause: unknown) => boolean;
}

export interface Answer {
  readonly status: number;
  header(name: string): string | undefined;
  /** The parts of the body, each when it is asked for. Rejects with `remote` above `most` bytes, which it does not read. */
  parts(most: number): AsyncGenerator<Uint8Array, void, void>;
  /** The body at once, likewise. */
  bytes(most: number): Promise<Uint8Array>;
  /** Leaves the body unread. */
  drop(): void;
}

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** Bytes of an error's body that are looked at. */
const MAX_TEXT_BYTES = 4096;
/** What tells nothing of its progress, such as an upload, may take this long for each byte, in milliseconds. */
const BYTE_MS = 1 / 16;

/** A request that ends when its caller's signal, or the time without a byte, does. */
class Exchange {
  readonly #controller = new AbortController();
  readonly #signal: AbortSignal | undefined;
  readonly #passes: (cause: unknown) => boolean;

  constructor({ signal, passes = () => false }: Pick<Request, 'signal' | 'passes'>) {
    this.#signal = signal;
    this.#passes = passes;
  }

  /** What the promise resolves to, within `ms`. */
  async wait<T>(begin: (signal: AbortSignal) => Promise<T>, ms = MAX_STALL_MS): Promise<T> {
    checkSignal(this.#signal);
    let stop = () => {};
    // Not by the abort alone, which some platforms do not hear.
    const silence = new Promise<never>((_, reject) => {
      stop = afterAwake(ms, () => reject(offlineFault('it was silent')));
    });
    try {
      return await until(Promise.race([begin(this.#controller.signal), silence]), this.#signal);
    } catch (cause) {
      this.#controller.abort();
      if (cause instanceof HedgerowError || this.#passes(cause)) throw cause;
      throw offlineFault(String(cause), cause);
    } finally {
      stop();
    }
  }

  drop(response: Response): void {
    // Not aborted: browsers keep an answer that has been read from their cache.
    response.body?.cancel().catch(() => {});
  }
}

/** Makes a request. Rejects with `offline` if there is no answer, and with `remote` for a redirect. */
export async function exchange(fetch: Fetch, request: Request): Promise<Answer> {
  const { method, url, headers, body, cache } = request;
  const own = new Exchange(request);
  const response = await own.wait(
    (signal) =>
      fetch(url, {
        ...{ method, headers, cache, signal },
        ...(body !== undefined && { body: body as Uint8Array<ArrayBuffer> }),
        ...{ redirect: 'manual', credentials: 'omit', referrerPolicy: 'no-referrer' },
      }),
    MAX_STALL_MS + BYTE_MS * (body?.length ?? 0),
  );
  const { status } = response;
  const isRedirect = response.redirected || response.type === 'opaqueredirect';
  if (isRedirect || (status >= 300 && status < 400 && status !== 304)) {
    own.drop(response);
    throw remoteFault('it redirects: give the address that it leads to', status);
  }
  const parts: Answer['parts'] = (most) => partsOf(own, response, most);
  return {
    status,
    header: (name) => response.headers.get(name) ?? undefined,
    parts,
    async bytes(most) {
      const all: Uint8Array[] = [];
      for await (const part of parts(most)) all.push(part);
      return joined(all);
    },
    drop: () => own.drop(response),
  };
}

async function* partsOf(
  own: Exchange,
  response: Response,
  most: number,
): AsyncGenerator<Uint8Array, void, void> {
  const tooLong = () => remoteFault(`more than ${most} bytes came`, response.status);
  if (Number(response.headers.get('content-length')) > most) {
    own.drop(response);
    throw tooLong();
  }
  // React Native has no streams of bodies.
  if (!response.body) {
    const ms = MAX_STALL_MS + BYTE_MS * most;
    const bytes = new Uint8Array(await own.wait(() => response.arrayBuffer(), ms));
    if (bytes.length > most) throw tooLong();
    yield bytes;
    return;
  }
  const reader = response.body.getReader();
  let length = 0;
  try {
    for (;;) {
      const { value, done } = await own.wait(() => reader.read());
      if (done) return;
      length += value.length;
      if (length > most) throw tooLong();
      yield value;
    }
  } finally {
    // Does nothing to a body that was read to its end.
    reader.cancel().catch(() => {});
  }
}

/** The error for an answer that refuses; `what` names the request. */
export async function refused(what: string, answer: Answer): Promise<HedgerowError> {
  const bytes = await answer.bytes(MAX_TEXT_BYTES).catch(() => new Uint8Array());
  return refusal(what, answer.status, String.fromCharCode(...bytes));
}
