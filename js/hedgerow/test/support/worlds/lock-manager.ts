import type { Locks } from '../../../src/base/locks.js';

type RequestOptions = Parameters<Locks['request']>[1];

/** A tab that requests locks, and may be frozen. */
export interface LockOwner {
  /** Runs `run` when the tab is awake, and passes on its result when the tab is awake again. */
  passes<T>(run: () => Promise<T>): Promise<T>;
  /** Runs `run` when the tab is awake and not deaf. */
  hears<T>(run: () => Promise<T>): Promise<T>;
}

interface Request {
  readonly tab: LockOwner;
  readonly isShared: boolean;
  grant(): void;
  lose(): void;
}

interface Queue {
  held: Request[];
  waiting: Request[];
}

/** Web Locks, as all tabs see them. */
export class LockManager {
  readonly #queues = new Map<string, Queue>();

  #queue(name: string): Queue {
    const queue = this.#queues.get(name) ?? { held: [], waiting: [] };
    this.#queues.set(name, queue);
    return queue;
  }

  #next(queue: Queue): void {
    for (;;) {
      const [first] = queue.waiting;
      if (first === undefined) return;
      const isFree =
        queue.held.length === 0 || (first.isShared && queue.held.every(({ isShared }) => isShared));
      if (!isFree) return;
      queue.waiting.shift();
      queue.held.push(first);
      first.grant();
    }
  }

  request<T>(
    tab: LockOwner,
    name: string,
    { mode = 'exclusive', ifAvailable = false, steal = false, signal }: RequestOptions,
    hold: (lock: unknown) => Promise<T>,
  ): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const queue = this.#queue(name);
      const lost = () => reject(new DOMException('the lock was taken away', 'AbortError'));
      const request: Request = {
        tab,
        isShared: mode === 'shared',
        grant: () => {
          const release = () => {
            queue.held = queue.held.filter((one) => one !== request);
            this.#next(queue);
          };
          // Grants at once: a frozen tab holds a lock without knowing it.
          void tab
            .passes(() => hold({ name, mode }))
            .then(
              (result) => {
                release();
                resolve(result);
              },
              (cause: unknown) => {
                release();
                reject(cause);
              },
            );
        },
        lose: () => void tab.hears(async () => lost()),
      };
      if (steal) {
        for (const one of queue.held.splice(0)) one.lose();
        queue.held.push(request);
        request.grant();
        return;
      }
      queue.waiting.push(request);
      this.#next(queue);
      if (!queue.waiting.includes(request)) return;
      if (ifAvailable) {
        queue.waiting = queue.waiting.filter((one) => one !== request);
        void tab.passes(() => hold(null)).then(resolve, reject);
      }
      signal?.addEventListener('abort', () => {
        if (!queue.waiting.includes(request)) return;
        queue.waiting = queue.waiting.filter((one) => one !== request);
        reject(signal.reason);
        this.#next(queue);
      });
    });
  }

  held(): { name: string }[] {
    return [...this.#queues].flatMap(([name, { held }]) => held.map(() => ({ name })));
  }

  /** Ends all locks of a tab: the tab ends, or its browser takes the locks away. */
  end(tab: LockOwner, isTold = false): void {
    for (const queue of this.#queues.values()) {
      const [own, others] = [
        queue.held.filter((one) => one.tab === tab),
        queue.held.filter((one) => one.tab !== tab),
      ];
      queue.held = others;
      queue.waiting = queue.waiting.filter((one) => one.tab !== tab);
      if (isTold) for (const one of own) one.lose();
    }
    for (const queue of this.#queues.values()) this.#next(queue);
  }
}
