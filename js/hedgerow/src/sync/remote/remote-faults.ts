/** The errors of remotes, in one place: the code for each answer. */
import { HedgerowError, kindOfError } from '../../base/errors.js';
import type { Swap } from './remote.js';

/** Makes the error for a swap whose head is gone. */
export function goneFault(name: string): HedgerowError {
  return new HedgerowError('remote/gone', `${name} was deleted`);
}

/** Makes the error for an answer that did not come, or not to its end. */
export function offlineFault(what: string, cause?: unknown): HedgerowError {
  return new HedgerowError('offline', `the remote cannot be reached: ${what}`, { cause });
}

/** Makes the error for a store that cannot keep writers apart. */
export function unsafeFault(what: string): HedgerowError {
  return new HedgerowError('remote/unsafe', what);
}

/** Makes the error for an answer that fits no call. */
export function remoteFault(what: string, status?: number): HedgerowError {
  return new HedgerowError('remote/status', what, { status });
}

/** S3's word for a bucket that does not exist. */
const NO_BUCKET = /NoSuchBucket/;

/** The reasons in a refusal by HTTP, besides its status. */
export interface Said {
  /** The start of its body. */
  readonly text: string;
  /** Its header `Date`. */
  readonly date: string | undefined;
  readonly retryAfterMs: number | undefined;
}

/** Makes the error for an answer of HTTP that refuses; `what` names the request. */
export function refusal(what: string, status: number, { text, ...told }: Said): HedgerowError {
  const [, code = ''] = /<Code>([A-Za-z.]{1,64})<\/Code>/.exec(text) ?? [];
  const said = `${what}: status ${status}${code && `, ${code}`}`;
  const facts = { status, retryAfterMs: told.retryAfterMs };
  const fault = (as: 'remote/status' | 'unauthorized' | 'remote/gone', more = '') =>
    new HedgerowError(as, said + more, facts);
  if (status === 401 || status === 403) return fault('unauthorized', clockFault(text, told.date));
  if (status === 410 || NO_BUCKET.test(code)) return fault('remote/gone');
  if (status === 405 || status === 501) return fault('remote/status', ': it is read-only');
  return fault('remote/status');
}

/** Signatures and tokens are refused for about this error of a clock. */
const SKEW_MS = 5 * 60_000;

/** Describes a wrong clock of this device. Pages of another origin see no `Date`; S3 writes its time into the body. */
function clockFault(text: string, date = ''): string {
  const [, told = date] = /<ServerTime>([^<]{1,40})<\/ServerTime>/.exec(text) ?? [];
  const aheadMs = Date.now() - Date.parse(told);
  if (!(Math.abs(aheadMs) > SKEW_MS)) return '';
  const minutes = Math.round(Math.abs(aheadMs) / 60_000);
  const way = aheadMs > 0 ? 'ahead of' : 'behind';
  return `: the clock of this device is ${minutes} minutes ${way} that of the store`;
}

/** The wait if a store takes no more writes for now, of this object or of all, and asks for no time. */
const SLOWED_MS = 1000;

/** Returns how long to wait after an answer that asks to come later, in milliseconds; `undefined` for any other. */
export function slowedMs(cause: unknown): number | undefined {
  if (!(cause instanceof HedgerowError) || kindOfError(cause) !== 'remote/status') {
    return undefined;
  }
  const { status, retryAfterMs = SLOWED_MS } = cause;
  return status === 429 || status === 503 ? retryAfterMs : undefined;
}

/** Runs a swap; resolves to `unknown` if it may have failed after it took effect. */
export async function unknownIfUnsure(swap: () => Promise<Swap>): Promise<Swap> {
  try {
    return await swap();
  } catch (cause) {
    if (!(cause instanceof HedgerowError)) throw cause;
    const { status = 0 } = cause;
    const kind = kindOfError(cause);
    const isUnsure =
      kind === 'offline' || (kind === 'remote/status' && (status >= 500 || status === 408));
    if (isUnsure) return { state: 'unknown', cause };
    throw cause;
  }
}
