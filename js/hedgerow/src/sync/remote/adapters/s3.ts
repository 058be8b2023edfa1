/** A remote in a bucket of S3, or of a store that speaks its protocol. */

import {
  anything,
  flag,
  fn,
  type OptionsOf,
  optionsOf,
  text,
} from '../../../base/check-options.js';
import { HedgerowError } from '../../../base/errors.js';
import { MAX_LISTED } from '../../../base/limits.js';
import { isPlain, shownAs } from '../../../base/runtime-type-checks.js';
import { askApp } from '../ask-app-credentials.js';
import { checkedRemote } from '../checked-remote.js';
import type { ListPrefix, Remote, RemoteObject, RemoteOptions } from '../remote.js';
import { remoteFault } from '../remote-faults.js';
import { type FetchFunction, readRefusal } from './http-exchange.js';
import { WebRemote } from './http-remote-base.js';
import { escapeComponent, parseHttpUrl, presign, type S3Credentials } from './presign.js';
import { nextToken, parseListPage } from './s3-list.js';

export type { S3Credentials } from './presign.js';

/** A request that is to be signed. */
export interface S3Request {
  readonly method: 'GET' | 'PUT' | 'DELETE';
  /** The key of the object; `undefined` for a list of the bucket. */
  readonly key: string | undefined;
  readonly query: Readonly<Record<string, string>>;
  /** Sent with the request. They may be signed, but need not be. */
  readonly headers: Readonly<Record<string, string>>;
}

type Address = string | undefined;

const S3_REMOTE_OPTIONS = {
  /** The address of the store, without the bucket: `https://s3.eu-central-1.amazonaws.com`. Not needed with `sign`. */
  endpoint: text,
  bucket: text,
  /** `'us-east-1'` by default. */
  region: text,
  /** Before all keys, such as `notes/`; empty by default. */
  prefix: text,
  /** Whether the bucket is in the path, or, by default, in the name of the host. */
  pathStyle: flag,
  /** A function is called before each request, for credentials that expire. It has 30 s to answer. */
  credentials: anything<S3Credentials | (() => S3Credentials | Promise<S3Credentials>)>(),
  /**
   * In place of credentials: returns the address of a request, presigned by the app's server; `undefined` for a request
   * that it does not allow. It has 30 s to answer.
   */
  sign: fn<(request: S3Request) => Address | Promise<Address>>(),
  /** Used instead of the platform's `fetch`. */
  fetch: fn<FetchFunction>(),
};

/** Options of `s3Remote`. */
export interface S3RemoteOptions extends OptionsOf<typeof S3_REMOTE_OPTIONS> {}

/** Milliseconds for which an address stays the same: only then can a browser answer from its cache. */
const SAME_MS = 300_000;
/** Seconds for which an address is valid, from the start of that time on. */
const EXPIRES_S = 900;
/** Most bytes of a page of a list. */
const MAX_PAGE_BYTES = 4 << 20;

/** Returns a remote in a bucket. Throws `invalid-argument` for malformed options. */
export function s3Remote(options: S3RemoteOptions): Remote {
  const given = optionsOf('s3Remote', options, S3_REMOTE_OPTIONS);
  const { prefix = '', fetch = globalThis.fetch } = given;
  const sign = given.sign === undefined ? signer(given) : makeAppSigner(given.sign, `${prefix}h/`);
  const web = new WebRemote(
    (to, init) => fetch(to, init),
    async ({ name, signal, ...request }) => {
      const key = name === undefined ? undefined : prefix + name;
      return { url: await sign({ ...request, key }, signal), headers: {} };
    },
  );
  const remote = Object.assign(web, {
    async list(under: ListPrefix, { signal }: RemoteOptions = {}) {
      const found: RemoteObject[] = [];
      let next: string | undefined;
      do {
        const query: Record<string, string> = { 'list-type': '2', prefix: prefix + under };
        if (next !== undefined) query['continuation-token'] = next;
        const answer = await web.send('GET', undefined, { query, signal });
        if (answer.status !== 200) throw await readRefusal(`list ${under}`, answer);
        const page = new TextDecoder().decode(await answer.bytes(MAX_PAGE_BYTES));
        found.push(...parseListPage(page, prefix));
        next = nextToken(page);
        if (found.length > MAX_LISTED) throw remoteFault(`list ${under}: it does not end`);
      } while (next);
      return found;
    },
  });
  return checkedRemote('s3Remote', remote);
}

type Sign = (request: S3Request, signal: AbortSignal | undefined) => Promise<string>;

/** Makes a function that signs with credentials. */
function signer(given: S3RemoteOptions): Sign {
  const { endpoint, bucket, region = 'us-east-1', pathStyle = false, credentials } = given;
  const root = parseHttpUrl(endpoint);
  const isGiven = typeof credentials === 'function' || isPlain(credentials);
  if (root === undefined || !/^[\w.-]+$/.test(bucket ?? '') || !isGiven) {
    throw new HedgerowError(
      'invalid-argument',
      'endpoint, bucket and credentials are needed, unless s3Remote is given sign',
    );
  }
  const host = pathStyle ? root.host : `${bucket}.${root.host}`;
  const base = `${root.path.replace(/\/$/, '')}/${pathStyle ? `${bucket}/` : ''}`;
  return async ({ method, key = '', query }, signal) => {
    const place = { ...root, host, path: base + key.split('/').map(escapeComponent).join('/') };
    const own =
      typeof credentials === 'function'
        ? await askApp('credentials', credentials, signal)
        : credentials;
    const atMs = Math.floor(Date.now() / SAME_MS) * SAME_MS;
    return presign({ method, place, query, region, credentials: own, atMs, expiresS: EXPIRES_S });
  };
}

/** Makes a function that signs by the app. It keeps the address of a head until half of its time is over. */
function makeAppSigner(sign: NonNullable<S3RemoteOptions['sign']>, heads: string): Sign {
  let head: { of: string; url: string; untilMs: number } | undefined;
  return async (request, signal) => {
    const { method, key, query } = request;
    const of = JSON.stringify([key, query]);
    if (method === 'GET' && head?.of === of && Date.now() < head.untilMs) return head.url;
    const url = await askApp('sign', () => sign(request), signal);
    if (typeof url !== 'string' || !/^https?:/.test(url)) {
      const answer = url === undefined ? 'it is not allowed' : `sign gave ${shownAs(url)}`;
      throw new HedgerowError('unauthorized', `${method} ${key ?? 'list'}: ${answer}`);
    }
    // Heads are read again and again: the browser's cache answers for the same address.
    const expiresS = Number(/[?&]X-Amz-Expires=(\d+)/.exec(url)?.[1] ?? 0);
    if (method === 'GET' && key?.startsWith(heads)) {
      head = { of, url, untilMs: Date.now() + expiresS * 500 };
    }
    return url;
  };
}

const S3_SIGNER_OPTIONS = {
  endpoint: S3_REMOTE_OPTIONS.endpoint,
  bucket: S3_REMOTE_OPTIONS.bucket,
  region: S3_REMOTE_OPTIONS.region,
  pathStyle: S3_REMOTE_OPTIONS.pathStyle,
  credentials: S3_REMOTE_OPTIONS.credentials,
};

/** Options of `s3Signer`. */
export type S3SignerOptions = Pick<
  S3RemoteOptions,
  'endpoint' | 'bucket' | 'region' | 'pathStyle' | 'credentials'
>;

/**
 * Presigns addresses at the app's server, for the `sign` of `s3Remote` in pages that have no keys. It signs every
 * request: check the rights of its caller first. Throws `invalid-argument` for malformed options.
 */
export function s3Signer(
  options: S3SignerOptions,
): (request: Pick<S3Request, 'method' | 'key' | 'query'>) => Promise<string> {
  const sign = signer(optionsOf('s3Signer', options, S3_SIGNER_OPTIONS));
  return (request) => sign({ ...request, headers: {} }, undefined);
}
