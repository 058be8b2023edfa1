/**
 * One request of HTTP and its answer, for all adapters of the web. It limits bytes, time without a byte and slowness,
 * follows no redirect, sends no cookie, and fails with the codes of `Remote`.
 */

import { checkSignal, until } from '../../../base/abort-signal.js';
import { concatBytes } from '../../../base/bytes.js';
import { HedgerowError } from '../../../base/errors.js';
import { afterAwake } from '../../../base/timeout.js';
import { offlineFault, refusal, remoteFault } from '../remote-faults.js';
import { objectPace, type TransferPace } from './minimum-transfer-speed.js';

export interface Request {
  readonly method: 'GET' | 'PUT' | 'DELETE' | 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | undefined;
  readonly cache: RequestCache;
  readonly signal: AbortSignal | undefined;
  /** How slowly the answer may come; `objectPace()` by default. Several requests may share one. */
  readonly pace?: TransferPace | undefined;
  /**
   * Returns whether an error of `fetch` is no failure of the network: the request rejects with it. Never by default.
   */
  readonly passes?: (cause: unknown) => boolean;
}

export interface HttpAnswer {
  readonly status: number;
  header(name: string): string | undefined;
  /** Yields the parts of the body, each when it is asked for. Rejects with `remote` before more than `most` bytes. */
  parts(most: number): AsyncGenerator<Uint8Array, void, void>;
  /** Reads the body as a whole, with the same limit. */
  bytes(most: number): Promise<Uint8Array>;
  /** Leaves the body unread. */
  drop(): void;
}

export type FetchFunction = (url: string, init: RequestInit) => Promise<Response>;

/** Bytes of an error's body that are read. */
const MAX_TEXT_BYTES = 4096;
/** Milliseconds for each byte of a transfer without progress, such as an upload. */
const BYTE_MS = 1 / 16;

/** A request that ends with its caller's signal, or with its time. */
class Exchange {
  readonly #controller = new AbortController();
  readonly #signal: AbortSignal | undefined;
  readonly #pace: TransferPace;
  readonly #passes: (cause: unknown) => boolean;

  constructor({
    signal,
    pace = objectPace(),
    passes = () => false,
  }: Pick<Request, 'signal' | 'pace' | 'passes'>) {
    this.#signal = signal;
    this.#pace = pace;
    this.#passes = passes;
  }

  /** Waits for the promise, within the time of the pace and `moreMs`. `lengthOf` says how many bytes came. */
  async wait<T>(
    begin: (signal: AbortSignal) => Promise<T>,
    moreMs = 0,
    lengthOf: (came: T) => number = () => 0,
  ): Promise<T> {
    checkSignal(this.#signal);
    const pace = this.#pace;
    const fromMs = performance.now();
    let length = 0;
    let stop = () => {};
    // The abort alone is not enough: some platforms do not hear it.
    const silence = new Promise<never>((_, reject) => {
      stop = afterAwake(pace.leftMs + moreMs, () => reject(offlineFault('it was silent')));
    });
    try {
      pace.check();
      const came = await until(
        Promise.race([begin(this.#controller.signal), silence]),
        this.#signal,
      );
      length = lengthOf(came);
      return came;
    } catch (cause) {
      this.#controller.abort();
      if (cause instanceof HedgerowError || this.#passes(cause)) throw cause;
      throw offlineFault(String(cause), cause);
    } finally {
      stop();
      pace.countWait(performance.now() - fromMs, length);
    }
  }

  drop(response: Response): void {
    // Not aborted, so that browsers keep the answer in their cache.
    response.body?.cancel().catch(() => {});
  }
}

/** Makes a request. Rejects with `offline` if there is no answer, and with `remote` for a redirect. */
export async function exchange(fetch: FetchFunction, request: Request): Promise<HttpAnswer> {
  const { method, url, headers, body, cache } = request;
  const own = new Exchange(request);
  const response = await own.wait(
    (signal) =>
      fetch(url, {
        ...{ method, headers, cache, signal },
        ...(body !== undefined && { body: body as Uint8Array<ArrayBuffer> }),
        ...{ redirect: 'manual', credentials: 'omit', referrerPolicy: 'no-referrer' },
      }),
    BYTE_MS * (body?.length ?? 0),
  );
  const { status } = response;
  const isRedirect = response.redirected || response.type === 'opaqueredirect';
  if (isRedirect || (status >= 300 && status < 400 && status !== 304)) {
    own.drop(response);
    throw remoteFault('it redirects: give the address that it leads to', status);
  }
  const parts: HttpAnswer['parts'] = (most) => partsOf(own, response, most);
  return {
    status,
    header: (name) => response.headers.get(name) ?? undefined,
    parts,
    async bytes(most) {
      const all: Uint8Array[] = [];
      for await (const part of parts(most)) all.push(part);
      return concatBytes(all);
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
    const whole = await own.wait(() => response.arrayBuffer(), BYTE_MS * most);
    const bytes = new Uint8Array(whole);
    if (bytes.length > most) throw tooLong();
    yield bytes;
    return;
  }
  const reader = response.body.getReader();
  let length = 0;
  try {
    for (;;) {
      const { value, done } = await own.wait(
        () => reader.read(),
        0,
        (came) => came.value?.length ?? 0,
      );
      if (done) return;
      length += value.length;
      if (length > most) throw tooLong();
      yield value;
    }
  } finally {
    // This has no effect on a body that was read to its end.
    reader.cancel().catch(() => {});
  }
}

/** Makes the error for an answer that refuses; `what` names the request. */
export async function readRefusal(what: string, answer: HttpAnswer): Promise<HedgerowError> {
  const bytes = await answer.bytes(MAX_TEXT_BYTES).catch(() => new Uint8Array());
  const text = String.fromCharCode(...bytes);
  const date = answer.header('date');
  return refusal(what, answer.status, { text, date, retryAfterMs: retryAfterOf(answer, date) });
}

/** The longest `Retry-After` that is kept. */
const MAX_RETRY_AFTER_MS = 600_000;

/** Reads how long an answer asks to wait: in seconds, or until a time by its own clock. */
function retryAfterOf(answer: HttpAnswer, date = ''): number | undefined {
  const header = answer.header('retry-after')?.trim() ?? '';
  const nowMs = Date.parse(date) || Date.now();
  const at = /GMT$/.test(header) ? Date.parse(header) : Number.NaN;
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : at - nowMs;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(0, ms), MAX_RETRY_AFTER_MS);
}
