/** Asks the platform about the storage of the whole origin. */
import { answerOf } from './request-persistent-storage.js';

/** The answers of the platform; `undefined` where it gives none. */
export interface Persistence {
  /** Bytes that the origin may store in all. */
  readonly quotaBytes: number | undefined;
  /** Bytes that the origin stores, including other databases and caches. */
  readonly usageBytes: number | undefined;
  /** Whether the browser clears the storage only when the user asks for that. */
  readonly isPersistent: boolean | undefined;
}

/** Asks the platform now. Never rejects. */
export async function persistence(): Promise<Persistence> {
  const [estimate, isPersistent] = await Promise.all([
    answerOf((storage) => storage.estimate?.()),
    answerOf((storage) => storage.persisted?.()),
  ]);
  return { quotaBytes: estimate?.quota, usageBytes: estimate?.usage, isPersistent };
}
