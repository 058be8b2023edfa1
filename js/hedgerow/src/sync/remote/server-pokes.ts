/** News of a server, by server-sent events: hints to pull. Read by `fetch`, since an `EventSource` sends no token. */

import { until } from '../../base/abort-signal.js';
import { anything, type OptionsOf, optionsOf } from '../../base/check-options.js';
import { HedgerowError } from '../../base/errors.js';
import { sleep } from '../../base/pauses.js';
import { kindOf } from '../../base/runtime-type-checks.js';
import { afterAwake } from '../../base/timeout.js';

const POKES_OPTIONS = {
  /** Sent as a bearer token. A function is called before each connection. */
  token: anything<string | (() => string | Promise<string>)>(),
};

/** Options of `serverPokes`. */
export interface PokesOptions extends OptionsOf<typeof POKES_OPTIONS> {}

const FIRST_WAIT_MS = 1000;
const MAX_WAIT_MS = 60_000;
/** A stream without a byte for so long is dead: servers send comments more often. */
const SILENT_MS = 60_000;

/** The start of each line of news. */
const DATA = 'data:';

class Events {
  readonly #url: string;
  readonly #token: PokesOptions['token'];
  readonly #poke: () => void;
  readonly #over = new AbortController();
  /** Whether news may have come while there was no stream. */
  #hasMissed = false;
  #waitMs = FIRST_WAIT_MS;

  constructor(url: string, token: PokesOptions['token'], poke: () => void) {
    this.#url = url;
    this.#token = token;
    this.#poke = poke;
  }

  end(): void {
    this.#over.abort();
  }

  async run(): Promise<void> {
    const { signal } = this.#over;
    while (!signal.aborted) {
      // The sync itself reports a server that does not answer, or that refuses.
      await this.#listen().catch(() => {});
      this.#hasMissed = true;
      // The jitter keeps devices apart whose server has restarted.
      const ms = this.#waitMs * (0.5 + Math.random() / 2);
      this.#waitMs = Math.min(2 * this.#waitMs, MAX_WAIT_MS);
      await sleep(ms, signal).catch(() => {});
    }
  }

  /** Follows one stream until it ends. */
  async #listen(): Promise<void> {
    const own = new AbortController();
    const end = () => own.abort();
    const { signal } = this.#over;
    signal.addEventListener('abort', end);
    let stop = afterAwake(SILENT_MS, end);
    try {
      const given = this.#token;
      const token = typeof given === 'function' ? await until(given(), own.signal) : given;
      const headers = { ...(token !== undefined && { Authorization: `Bearer ${token}` }) };
      // No redirect: another host would get the token.
      const how = { cache: 'no-store', redirect: 'error', signal: own.signal } as const;
      const { ok, body, headers: answered } = await fetch(this.#url, { ...how, headers });
      if (!ok || !/^text\/event-stream\b/.test(answered.get('content-type') ?? '')) return;
      if (this.#hasMissed) this.#poke();
      this.#waitMs = FIRST_WAIT_MS;
      const reader = body?.getReader();
      const decoder = new TextDecoder();
      // Only the start of a line is kept: no line is too long.
      let begin = '';
      for (;;) {
        const part = await reader?.read();
        if (part?.value === undefined) return;
        stop();
        stop = afterAwake(SILENT_MS, end);
        for (const piece of decoder.decode(part.value, { stream: true }).split(/([\r\n])/)) {
          const isEnd = piece === '\r' || piece === '\n';
          if (isEnd && begin === DATA) this.#poke();
          begin = isEnd ? '' : (begin + piece.slice(0, DATA.length)).slice(0, DATA.length);
        }
      }
    } finally {
      stop();
      signal.removeEventListener('abort', end);
      own.abort();
    }
  }
}

/**
 * Returns the option `subscribe` of `connection.start`: news of the reference server at `url`, the address of `httpRemote`.
 * Connects again by itself, after waits that double up to a minute, and then pokes, since news may have come in
 * between. Throws `unsupported` where answers of `fetch` do not stream, as in React Native.
 */
export function serverPokes(
  url: string,
  options: PokesOptions = {},
): (poke: () => void) => () => void {
  if (typeof url !== 'string') {
    throw new HedgerowError('invalid-argument', `serverPokes takes an address, not ${kindOf(url)}`);
  }
  const { token } = optionsOf('serverPokes', options, POKES_OPTIONS);
  if (!/^(undefined|string|function)$/.test(typeof token)) {
    throw new HedgerowError(
      'invalid-argument',
      'serverPokes: token must be a string, or a function',
    );
  }
  if (typeof ReadableStream === 'undefined') {
    throw new HedgerowError('unsupported', 'answers do not stream here: poke the loop yourself');
  }
  return (poke) => {
    const events = new Events(`${url}${url.endsWith('/') ? '' : '/'}events`, token, poke);
    void events.run();
    return () => events.end();
  };
}
