/** The errors of remotes, in one place: which answer is which code. */
import { HedgerowError } from '../base/errors.js';
import type { Swap } from './remote.js';

/** The head is gone that a swap was to replace. */
export function goneFault(name: string): HedgerowError {
  return new HedgerowError('remote-gone', `${name} was deleted`);
}

/** Nobody answered, or not to the end. */
export function offlineFault(what: string, cause?: unknown): HedgerowError {
  return new HedgerowError('offline', `the remote cannot be reached: ${what}`, { cause });
}

/** The store cannot keep writers apart. */
export function unsafeFault(what: string): HedgerowError {
  return new HedgerowError('remote-unsafe', what);
}

/** An answer that fits no call. */
export function remoteFault(what: string, status?: number): HedgerowError {
  return new HedgerowError('remote', what, { status });
}

/** S3's word for a bucket that does not exist. */
const NO_BUCKET = /NoSuchBucket/;

/** An answer of HTTP that refuses: `text` is the begin of its body, `what` names the request. */
export function refusal(what: string, status: number, text = ''): HedgerowError {
  const [, code = ''] = /<Code>([A-Za-z.]{1,64})<\/Code>/.exec(text) ?? [];
  const said = `${what}: status ${status}${code && `, ${code}`}`;
  if (status === 401 || status === 403) return new HedgerowError('remote-auth', said, { status });
  if (status === 410 || NO_BUCKET.test(code))
    return new HedgerowError('remote-gone', said, { status });
  if (status === 405 || status === 501) return remoteFault(`${said}: it is read-only`, status);
  return remoteFault(said, status);
}

/** How a swap ends that may fail after it took effect. */
export async function unknownIfUnsure(swap: () => Promise<Swap>): Promise<Swap> {
  try {
    return await swap();
  } catch (cause) {
    if (!(cause instanceof HedgerowError)) throw cause;
    const { code, status = 0 } = cause;
    const isUnsure = code === 'offline' || (code === 'remote' && (status >= 500 || status === 408));
    if (isUnsure) return { state: 'unknown', cause };
    throw cause;
  }
}
