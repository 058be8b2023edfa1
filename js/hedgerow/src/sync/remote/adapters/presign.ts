/**
 * Addresses signed by AWS Signature Version 4, in their query: they need no header, so a page reads without a
 * preflight. https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-query-string-auth.html
 */
import { HedgerowError } from '../../../base/errors.js';
import { hex } from '../../../base/hex.js';

/** The credentials that sign requests. Temporary ones have a session token. */
export interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

/** An address without its query. It is no `URL`, as React Native's cannot be changed. */
export interface UrlParts {
  readonly scheme: string;
  readonly host: string;
  /** Begins with a slash, and is escaped by `escapeComponent`. */
  readonly path: string;
}

export interface PresignRequest {
  readonly method: string;
  readonly place: UrlParts;
  readonly query: Readonly<Record<string, string>>;
  readonly region: string;
  readonly credentials: S3Credentials;
  /** When it was signed, in milliseconds. */
  readonly atMs: number;
  /** How long it is valid from then on, in seconds. */
  readonly expiresS: number;
}

const encoder = new TextEncoder();

/** Escapes all but the unreserved characters of RFC 3986, as AWS does. */
export function escapeComponent(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

async function hmac(key: Uint8Array, text: string): Promise<Uint8Array> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const raw = key as Uint8Array<ArrayBuffer>;
  const imported = await crypto.subtle.importKey('raw', raw, algorithm, false, ['sign']);
  return new Uint8Array(await crypto.subtle.sign('HMAC', imported, encoder.encode(text)));
}

/** The key of a day: derived once, as a page signs many addresses. */
let last: { of: string; key: Promise<Uint8Array> } | undefined;

function keyOf(secret: string, day: string, region: string): Promise<Uint8Array> {
  const of = [secret, day, region].join('\n');
  if (last?.of !== of) {
    const parts = [day, region, 's3', 'aws4_request'];
    const first = Promise.resolve(encoder.encode(`AWS4${secret}`));
    const derived = parts.reduce(
      async (key, part) => hmac(await key, part),
      first as Promise<Uint8Array>,
    );
    last = { of, key: derived };
  }
  return last.key;
}

/** Splits an address of `http:` or `https:`; returns `undefined` for other values, or if it has a query. */
export function parseHttpUrl(url: unknown): UrlParts | undefined {
  if (typeof url !== 'string') return undefined;
  const [, scheme, host = '', path = '/'] =
    /^(https?):\/\/([^/?#@\s]+)(\/[^?#]*)?$/.exec(url) ?? [];
  // `fetch` leaves these ports out, and the host is signed.
  const port = scheme === 'https' ? ':443' : ':80';
  const own = host.endsWith(port) ? host.slice(0, -port.length) : host;
  return scheme === undefined ? undefined : { scheme, host: own, path };
}

/** Returns the address with its query, escaped, in the order of its names. */
export function withQuery(place: UrlParts, query: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(query).map(([name, value]) => [
    escapeComponent(name),
    escapeComponent(value),
  ]);
  pairs.sort(([a = ''], [b = '']) => (a < b ? -1 : 1));
  const search = pairs.map((pair) => pair.join('=')).join('&');
  return `${place.scheme}://${place.host}${place.path}${search && `?${search}`}`;
}

/** Returns the signed address of a request. */
export async function presign(request: PresignRequest): Promise<string> {
  const { method, place, region, credentials, atMs, expiresS } = request;
  if (globalThis.crypto?.subtle === undefined) {
    throw new HedgerowError(
      'unsupported',
      'WebCrypto is missing: serve the page by https, or give s3Remote a sign function',
    );
  }
  const { accessKeyId, secretAccessKey, sessionToken } = credentials;
  const time = new Date(atMs).toISOString().replace(/[-:]|\.\d+/g, '');
  const scope = `${time.slice(0, 8)}/${region}/s3/aws4_request`;
  const url = withQuery(place, {
    ...request.query,
    'X-Amz-Algorithm': 'AWS4-HMAC-SHA256',
    'X-Amz-Credential': `${accessKeyId}/${scope}`,
    'X-Amz-Date': time,
    'X-Amz-Expires': String(expiresS),
    'X-Amz-SignedHeaders': 'host',
    ...(sessionToken !== undefined && { 'X-Amz-Security-Token': sessionToken }),
  });
  const search = url.slice(url.indexOf('?') + 1);
  const host = `host:${place.host}`;
  const lines = [method, place.path, search, host, '', 'host', 'UNSIGNED-PAYLOAD'];
  const digest = await crypto.subtle.digest('SHA-256', encoder.encode(lines.join('\n')));
  const toSign = ['AWS4-HMAC-SHA256', time, scope, hex(new Uint8Array(digest))].join('\n');
  const key = await keyOf(secretAccessKey, time.slice(0, 8), region);
  const signature = hex(await hmac(key, toSign));
  return `${url}&X-Amz-Signature=${signature}`;
}
