/** What answers of HTTP say of heads and ranges. */
import { MAX_HEAD_BYTES } from '../../../base/limits.js';
import type { RemoteHead } from '../remote.js';
import { remoteFault } from '../remote-faults.js';
import { type HttpAnswer, readRefusal } from './exchange.js';

/** Begins tokens of heads that came without an ETag: they tell heads apart, and no swap takes them. */
const WITHOUT_ETAG = '~';

/** Whether a swap can name this token. Weak ones never match. */
export function isStrong(token: string): boolean {
  return token !== '' && !token.startsWith('W/') && !token.startsWith(WITHOUT_ETAG);
}

/** Throws `remote` if a page came instead of an answer: of a login, a hotel, or for addresses that do not exist. */
export function checkNoPage(what: string, answer: HttpAnswer): void {
  if (answer.status >= 300 || !/^text\/html/i.test(answer.header('content-type') ?? '')) return;
  answer.drop();
  throw remoteFault(`${what}: a page of HTML came`, answer.status);
}

/** The head that an answer has, `undefined` if there is none. */
export async function headOf(name: string, answer: HttpAnswer): Promise<RemoteHead | undefined> {
  checkNoPage(`GET ${name}`, answer);
  if (answer.status !== 200) {
    const fault = await readRefusal(`GET ${name}`, answer);
    if (answer.status === 404 && fault.code !== 'remote-gone') return undefined;
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

/** FNV-1a, twice 32 bits: it only has to tell one head from the next. */
function checksum(bytes: Uint8Array): string {
  let [low, high] = [0x811c9dc5, 0x01000193];
  for (const byte of bytes) {
    low = Math.imul(low ^ byte, 0x01000193);
    high = Math.imul(high ^ byte, 0x811c9dc5);
  }
  return `${(low >>> 0).toString(16)}.${(high >>> 0).toString(16)}.${bytes.length}`;
}

/** What an answer with a part of an object says that it has. All undefined where a page of another origin cannot see it. */
export interface ToldRange {
  readonly told: string | undefined;
  readonly first: number | undefined;
  readonly last: number | undefined;
  /** Bytes of the object, if the server tells. */
  readonly total: number | undefined;
}

/** Reads the `Content-Range` of an answer. */
export function parseContentRange(answer: HttpAnswer): ToldRange {
  const told = answer.header('content-range');
  const [, first, last, total] = /^bytes (\d+)-(\d+)\/(\d+|\*)$/.exec(told ?? '') ?? [];
  const count = (digits = '*') => (digits === '*' ? undefined : Number(digits));
  return { told, first: count(first), last: count(last), total: count(total) };
}

/** The bytes of a whole body, if the answer tells, and they were not deflated on the way. */
export function readContentLength(answer: HttpAnswer): number | undefined {
  const told = answer.header('content-length');
  if (told === undefined || answer.header('content-encoding') !== undefined) return undefined;
  return Number(told);
}

/** The headers of a read that must not send what is unchanged. */
export function unchangedHeaders(token: string): Record<string, string> {
  // A page's own cache asks so; a header set by hand would cost a preflight.
  const isPage = typeof location !== 'undefined';
  return isPage || token.startsWith(WITHOUT_ETAG) ? {} : { 'If-None-Match': token };
}
