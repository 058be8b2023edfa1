/** Locks within one page, for storage that no other page has open. */
import type { Locks } from './locks.js';

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
