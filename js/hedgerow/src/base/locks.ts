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

interface Holder {
  readonly isShared: boolean;
  start(): void;
}

/** The holders of one name, and the waiting requests, in their order. */
class Queue {
  readonly held = new Set<Holder>();
  readonly waiting: Holder[] = [];

  isFree(isShared: boolean): boolean {
    return this.held.size === 0 || (isShared && [...this.held].every((held) => held.isShared));
  }

  next(): void {
    for (let first = this.waiting[0]; first && this.isFree(first.isShared); ) {
      this.waiting.shift();
      this.held.add(first);
      first.start();
      first = this.waiting[0];
    }
  }
}

/** Makes locks that work like Web Locks, shared by all users of the returned object. */
export function localLocks(): Locks {
  const queues = new Map<string, Queue>();
  return {
    areKept: true,
    async request(name, { mode = 'exclusive', ifAvailable = false, signal }, hold) {
      if (signal?.aborted === true) throw signal.reason;
      const queue = queues.get(name) ?? new Queue();
      queues.set(name, queue);
      const holder: Holder = { isShared: mode === 'shared', start: () => {} };
      if (queue.waiting.length === 0 && queue.isFree(holder.isShared)) queue.held.add(holder);
      else if (ifAvailable) return hold(null);
      else {
        await new Promise<void>((start, refuse) => {
          holder.start = start;
          queue.waiting.push(holder);
          signal?.addEventListener('abort', () => {
            const at = queue.waiting.indexOf(holder);
            if (at < 0) return;
            queue.waiting.splice(at, 1);
            refuse(signal.reason);
            queue.next();
          });
        });
      }
      try {
        return await hold(holder);
      } finally {
        queue.held.delete(holder);
        queue.next();
        if (queue.held.size === 0 && queue.waiting.length === 0) queues.delete(name);
      }
    },
    async query() {
      const held = [...queues].flatMap(([name, queue]) => [...queue.held].map(() => ({ name })));
      return { held };
    },
  };
}
