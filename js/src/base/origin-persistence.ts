/** What the platform says about the storage of the whole origin. */
import { answerOf } from './persist.js';

/** Each is `undefined` where the platform does not say. */
export interface Persistence {
  /** Bytes that the origin may store in all. */
  readonly quotaBytes: number | undefined;
  /** Bytes that the origin stores, other databases and caches included. */
  readonly usageBytes: number | undefined;
  /** Whether the browser clears it only when the user asks for that. */
  readonly isPersistent: boolean | undefined;
}

/** What the platform says now. Never rejects. */
export async function persistence(): Promise<Persistence> {
  const [estimate, isPersistent] = await Promise.all([
    answerOf((storage) => storage.estimate?.()),
    answerOf((storage) => storage.persisted?.()),
  ]);
  return { quotaBytes: estimate?.quota, usageBytes: estimate?.usage, isPersistent };
}
