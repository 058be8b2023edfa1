/** The loop of a link: one at a time, which ends with the store. */
import { sleep } from '../../base/timeout.js';
import type { SyncHost } from './linked-store-types.js';
import { type LoopHost, SyncLoop, type SyncOptions, type SyncState } from './sync-loop.js';
import type { Leases } from './tab-leases.js';

/** The members of a loop's host that a link brings: the others are the same for all. */
export type LinkWork = Pick<LoopHost, 'isPending' | 'work' | 'onCommit'> & Partial<LoopHost>;

export class SingleSyncLoop {
  readonly #store: SyncHost;
  readonly #leases: Leases;
  #loop: SyncLoop | undefined;

  constructor(store: SyncHost, leases: Leases) {
    this.#store = store;
    this.#leases = leases;
  }

  /** The state of the loop; `undefined` before the first one. */
  get state(): SyncState | undefined {
    return this.#loop?.state;
  }

  /** Returns the running loop, or starts the one that `make` describes. */
  begin(make: () => readonly [work: LinkWork, options: SyncOptions]): SyncLoop {
    const { changes } = this.#store;
    this.#store.check();
    if (this.#loop?.isOver === false) return this.#loop;
    const [work, options] = make();
    const leases = this.#leases;
    const host: LoopHost = {
      hold: (run, signal, onTold) => leases.hold('loop', run, signal, onTold),
      say: (told) => leases.say('loop', told),
      pass: () => leases.poke('loop'),
      sleep,
      chance: Math.random,
      ...work,
    };
    const loop = new SyncLoop(host, options);
    this.#loop = loop;
    leases.onPoke = (name) => {
      if (name === 'loop') loop.poke();
    };
    changes.note(loop.over);
    changes.closing.addEventListener('abort', () => void loop.stop(), { once: true });
    return loop;
  }

  async stop(): Promise<void> {
    await this.#loop?.stop();
  }
}
