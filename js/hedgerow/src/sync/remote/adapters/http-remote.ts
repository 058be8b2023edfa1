/** A remote over plain HTTP: the reference server, or, to read only, any static server. */

import {
  anything,
  fn,
  mandatory,
  type OptionsOf,
  optionsOf,
  text,
} from '../../../base/check-options.js';
import { HedgerowError } from '../../../base/errors.js';
import { MAX_LISTED } from '../../../base/limits.js';
import { askApp } from '../ask-app-credentials.js';
import { checkedRemote } from '../checked-remote.js';
import { parseName } from '../object-names.js';
import type { ListPrefix, Remote, RemoteObject, RemoteOptions } from '../remote.js';
import { remoteFault } from '../remote-faults.js';
import { type FetchFunction, readRefusal } from './http-exchange.js';
import { WebRemote } from './http-remote-base.js';
import { escapeComponent, parseHttpUrl, withQuery } from './presign.js';

const HTTP_REMOTE_OPTIONS = {
  /** The address of the objects: of `http:` or `https:`, without query. */
  url: mandatory(text),
  /** A bearer token. A function is called before each request, and again after a 401, once. It has 30 s to answer. */
  token: anything<string | (() => string | Promise<string>)>(),
  /** Used instead of the platform's `fetch`. */
  fetch: fn<FetchFunction>(),
};

/** Options of `httpRemote`. */
export interface HttpRemoteOptions extends OptionsOf<typeof HTTP_REMOTE_OPTIONS> {}

/** Most bytes that a list has for one object. */
const LISTED_BYTES = 256;

/**
 * Returns a remote at `url`. Reads use only GET, with single ranges: to another origin, without a token, they cost no
 * preflight. Throws `invalid-argument` for malformed options.
 */
export function httpRemote(options: HttpRemoteOptions): Remote {
  const {
    url,
    token,
    fetch = globalThis.fetch,
  } = optionsOf('httpRemote', options, HTTP_REMOTE_OPTIONS);
  const root = parseHttpUrl(url);
  if (root === undefined) {
    throw new HedgerowError('invalid-argument', 'httpRemote: url must be of http: or https:');
  }
  if (!/^(undefined|string|function)$/.test(typeof token)) {
    throw new HedgerowError(
      'invalid-argument',
      'httpRemote: token must be a string, or a function',
    );
  }
  const base = root.path.endsWith('/') ? root.path : `${root.path}/`;
  const web = new WebRemote(
    (to, init) => fetch(to, init),
    async ({ name = '', query, signal }) => {
      // Escaped once more: the name itself is escaped.
      const place = { ...root, path: base + name.split('/').map(escapeComponent).join('/') };
      const bearer = typeof token === 'function' ? await askApp('token', token, signal) : token;
      const headers: Record<string, string> =
        bearer === undefined ? {} : { Authorization: `Bearer ${bearer}` };
      return { url: withQuery(place, query), headers };
    },
  );
  const remote = Object.assign(web, {
    async list(prefix: ListPrefix, { signal }: RemoteOptions = {}) {
      const answer = await web.send('GET', undefined, { query: { list: prefix }, signal });
      if (answer.status !== 200) throw await readRefusal(`list ${prefix}`, answer);
      const bytes = await answer.bytes(MAX_LISTED * LISTED_BYTES);
      return parseObjectList(prefix, new TextDecoder().decode(bytes));
    },
  });
  return checkedRemote('httpRemote', remote);
}

function parseObjectList(prefix: string, text: string): readonly RemoteObject[] {
  try {
    const found: RemoteObject[] = JSON.parse(text);
    return found.map(({ name, length, modifiedMs }) => {
      const isOne = name.startsWith(prefix) && parseName(name) !== undefined;
      if (isOne && length >= 0 && modifiedMs >= 0) return { name, length, modifiedMs };
      throw new TypeError('no object');
    });
  } catch {
    throw remoteFault(`list ${prefix}: the server does not tell what it has`, 200);
  }
}
