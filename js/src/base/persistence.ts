/** What the platform tells about the storage of the whole origin, and asking it to keep that. */

/** Each is `undefined` where the platform does not tell. */
export interface Persistence {
  /** Bytes that the origin may store in all. */
  readonly quotaBytes: number | undefined;
  /** Bytes that the origin stores, other databases and caches included. */
  readonly usageBytes: number | undefined;
  /** Whether the browser clears it only when the user asks for that. */
  readonly isPersistent: boolean | undefined;
}

function manager(): Partial<StorageManager> {
  // Not in Node, and not in a page that did not come over a secure connection.
  return (globalThis.navigator as Partial<Navigator> | undefined)?.storage ?? {};
}

/** What the platform tells now. Never fails. */
export async function persistence(): Promise<Persistence> {
  const storage = manager();
  const [estimate, isPersistent] = await Promise.all([
    quietly(() => storage.estimate?.()),
    quietly(() => storage.persisted?.()),
  ]);
  return { quotaBytes: estimate?.quota, usageBytes: estimate?.usage, isPersistent };
}

/**
 * Asks that the origin's storage be kept. Never fails, and nobody waits for it: a browser may ask
 * the user, and a worker may not ask at all.
 */
export function askToPersist(): void {
  void quietly(() => manager().persist?.());
}

async function quietly<T>(call: () => Promise<T> | undefined): Promise<T | undefined> {
  try {
    return await call();
  } catch {
    return undefined;
  }
}
