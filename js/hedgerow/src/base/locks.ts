/**
 * Locks, by which handles announce to each other what they use. A lock ends with its holder. In browsers they are Web
 * Locks, which all tabs of an origin share.
 */

/** The part of `LockManager` that Hedgerow uses. */
export interface Locks {
  request<T>(
    name: string,
    options: {
      mode?: 'shared' | 'exclusive';
      ifAvailable?: boolean;
      steal?: boolean;
      signal?: AbortSignal;
    },
    hold: (lock: unknown) => Promise<T>,
  ): Promise<T>;
  query(): Promise<{ held?: readonly { name?: string }[] }>;
  /** Whether locks cannot be stolen, since no holder is ever suspended alone. */
  readonly areKept?: boolean;
}

/** Makes a random name of 128 bits. */
export function uniqueName(): string {
  return crypto.getRandomValues(new Uint32Array(4)).join('-');
}
