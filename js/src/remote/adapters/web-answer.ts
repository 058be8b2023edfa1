/** What answers of HTTP say of heads and ranges. */
import { MAX_HEAD_BYTES } from '../../base/limits.js';
import { remoteFault } from '../faults.js';
import type { ByteRange, RemoteHead } from '../remote.js';
import { type Answer, refused } from './exchange.js';

/** Begins tokens of heads that came without an ETag: they tell heads apart, and no swap takes them. */
const WITHOUT_ETAG = '~';

/** Whether a swap can name this token. Weak ones never match. */
export function isStrong(token: string): boolean {
  return token !== '' && !token.startsWith('W/') && !token.startsWith(WITHOUT_ETAG);
}

/** Whether a page came instead of an object: of a login, a hotel, or for addresses that do not exist. */
export function isHtml(answer: Answer): boolean {
  return answer.status < 300 && /^text\/html/i.test(answer.header('content-type') ?? '');
}

/** The head that an answer has, `undefined` if there is none. */
export async function headOf(name: string, answer: Answer): Promise<RemoteHead | undefined> {
  if (isHtml(answer)) throw remoteFault(`GET ${name}: a page of HTML came`, answer.status);
  if (answer.status !== 200) {
    const fault = await refused(`GET ${name}`, answer);
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

/** The bytes of a range. */
export async function rangeOf(
  name: string,
  answer: Answer,
  { from, to }: ByteRange,
): Promise<Uint8Array> {
  // Of another origin it can only be read if the server exposes it.
  const told = answer.header('content-range');
  const bytes = await answer.bytes(to - from);
  const last = from + bytes.length - 1;
  if (told === undefined || told.startsWith(`bytes ${from}-${last}/`)) return bytes;
  throw remoteFault(`GET ${name}: bytes ${from}-${last} came as ${told}`, answer.status);
}

/** The headers of a read that must not send what is unchanged. */
export function unchangedHeaders(token: string): Record<string, string> {
  // A page's own cache asks so; a header set by hand would cost a preflight.
  const isPage = typeof location !== 'undefined';
  return isPage || token.startsWith(WITHOUT_ETAG) ? {} : { 'If-None-Match': token };
}
