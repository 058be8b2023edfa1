/** Reads heads and ranges from answers of HTTP. */
import { kindOfError } from '../../../base/errors.js';
import { MAX_HEAD_BYTES } from '../../../base/limits.js';
import type { RemoteHead } from '../remote.js';
import { remoteFault } from '../remote-faults.js';
import { type HttpAnswer, readRefusal } from './http-exchange.js';

/** Begins tokens of heads that came without an ETag: they distinguish heads, and no swap takes them. */
const WITHOUT_ETAG = '~';

/** Returns whether a swap can name this token. Weak ones never match. */
export function isStrong(token: string): boolean {
  return token !== '' && !token.startsWith('W/') && !token.startsWith(WITHOUT_ETAG);
}

/** Throws `remote` if a page came instead of an answer: of a login, a hotel, or for addresses that do not exist. */
export function checkNoPage(what: string, answer: HttpAnswer): void {
  if (answer.status >= 300 || !/^text\/html/i.test(answer.header('content-type') ?? '')) return;
  answer.drop();
  throw remoteFault(`${what}: a page of HTML came`, answer.status);
}

/** Reads the head of an answer; resolves to `undefined` if there is no head. */
export async function headOf(name: string, answer: HttpAnswer): Promise<RemoteHead | undefined> {
  checkNoPage(`GET ${name}`, answer);
  if (answer.status !== 200) {
    const fault = await readRefusal(`GET ${name}`, answer);
    if (answer.status === 404 && kindOfError(fault) !== 'remote/gone') return undefined;
    throw fault;
  }
  const bytes = await answer.bytes(MAX_HEAD_BYTES);
  const modifiedMs = Date.parse(answer.header('last-modified') ?? '');
  return {
    bytes,
    token: answer.header('etag') ?? WITHOUT_ETAG + checksum(bytes),
    modifiedMs: Number.isNaN(modifiedMs) ? undefined : modifiedMs,
  };
}

/** Computes FNV-1a, twice 32 bits: it only has to distinguish one head from the next. */
function checksum(bytes: Uint8Array): string {
  let [low, high] = [0x811c9dc5, 0x01000193];
  for (const byte of bytes) {
    low = Math.imul(low ^ byte, 0x01000193);
    high = Math.imul(high ^ byte, 0x811c9dc5);
  }
  return `${(low >>> 0).toString(16)}.${(high >>> 0).toString(16)}.${bytes.length}`;
}

/** The range of an answer with a part of an object. All undefined if a page of another origin cannot see it. */
export interface ToldRange {
  readonly told: string | undefined;
  readonly first: number | undefined;
  readonly last: number | undefined;
  /** Bytes of the object, if the server says so. */
  readonly total: number | undefined;
}

/** Reads the `Content-Range` of an answer. */
export function parseContentRange(answer: HttpAnswer): ToldRange {
  const told = answer.header('content-range');
  const [, first, last, total] = /^bytes (\d+)-(\d+)\/(\d+|\*)$/.exec(told ?? '') ?? [];
  const count = (digits = '*') => (digits === '*' ? undefined : Number(digits));
  return { told, first: count(first), last: count(last), total: count(total) };
}

/** Reads the length of a whole body, if the answer has it, and the body was not deflated on the way. */
export function readContentLength(answer: HttpAnswer): number | undefined {
  const told = answer.header('content-length');
  if (told === undefined || answer.header('content-encoding') !== undefined) return undefined;
  return Number(told);
}

/** Returns the headers of a read that must not send an unchanged head. */
export function unchangedHeaders(token: string): Record<string, string> {
  // A page's own cache asks this itself; a header set by hand would cost a preflight.
  const isPage = typeof location !== 'undefined';
  return isPage || token.startsWith(WITHOUT_ETAG) ? {} : { 'If-None-Match': token };
}
