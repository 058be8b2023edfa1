/** The health of the storage of an open store, and the calls of its listeners. Loaded at first use. */

import { notify } from '../base/call-callback-safely.js';
import { type HedgerowError, kindOfError } from '../base/errors.js';
import { type Persistence, persistence } from '../base/origin-storage-estimate.js';
import { later } from '../base/timeout.js';
import type { Lifetime, Storage } from '../storage/segment-store.js';
import type { Health, HealthState, KnownHealth } from './storage-health-types.js';

const NEAR_PART = 0.1;
const NEAR_BYTES = 64 << 20;
/** Shortest time between two calls of listeners, in milliseconds. */
const TELL_MS = 1000;

/** Returns the present health of the storage. Reads no rows, and never fails. */
export async function healthOf(known: KnownHealth): Promise<Health> {
  const { storage, unavailable, honoursStrict } = known;
  const { lifetime } = storage;
  const platform = await platformOf(lifetime);
  const isPersistent = platform.isPersistent === true;
  // Browsers delete the storage of private windows, so no private window has persistent storage.
  const isPrivate = !isPersistent && (await isPrivateWindow(storage));
  // Read last: a call may have failed while the platform was asked.
  const { read, write } = known.failures;
  const cause = write ?? read ?? unavailable;
  const isNearQuota = isNear(platform);
  const facts = { cause, ...platform, isNearQuota, honoursStrict };
  const means = (state: HealthState, message: string) => ({ state, message, ...facts });
  if (write !== undefined || read !== undefined) return means('failing', failing(write, read));
  if (lifetime === 'session') return means('ephemeral', unavailable ? UNAVAILABLE : IN_MEMORY);
  if (isPrivate) return means('ephemeral', PRIVATE);
  return isPersistent ? means('persistent', PERSISTENT) : means('best-effort', BEST_EFFORT);
}

/** Returns what the platform says about the origin. Memory and files have no quota. */
async function platformOf(lifetime: Lifetime | undefined): Promise<Persistence> {
  if (lifetime === undefined || lifetime === 'origin') return persistence();
  const isPersistent = lifetime === 'permanent';
  return { quotaBytes: undefined, usageBytes: undefined, isPersistent };
}

async function isPrivateWindow(storage: Storage): Promise<boolean> {
  try {
    return (await storage.isPrivate?.()) === true;
  } catch {
    // Unknown: do not claim it.
    return false;
  }
}

function isNear({ quotaBytes, usageBytes }: Persistence): boolean | undefined {
  if (quotaBytes === undefined || usageBytes === undefined) return undefined;
  return quotaBytes - usageBytes < Math.max(NEAR_PART * quotaBytes, NEAR_BYTES);
}

const UNAVAILABLE =
  'Storage cannot be opened here: rows are in memory, and are lost when this page is closed.';
const IN_MEMORY = 'Rows are in memory, and are lost when this page or process ends.';
const PRIVATE = 'This is a private window: rows are lost when it is closed.';
const PERSISTENT = 'Rows stay until somebody deletes them.';
const BEST_EFFORT = 'Rows are stored, and the browser may delete them when space is short.';

function failing(write: HedgerowError | undefined, read: HedgerowError | undefined): string {
  const { code } = write ?? read ?? {};
  if (code === 'closed') return 'The store was deleted: its rows are gone.';
  if (code === 'quota-exceeded') {
    return 'There is no space: the last write was not stored. Stored rows are kept and can be read.';
  }
  if (write === undefined)
    return 'The last read of storage failed. Nothing shows that rows are lost.';
  return 'The last write was not stored, or its answer was lost. Nothing shows that older rows are lost.';
}

/** The calls of the health listeners of a store, when its health has changed. */
export class HealthListeners {
  readonly #known: KnownHealth;
  #isBusy = false;
  #isDue = false;

  constructor(known: KnownHealth) {
    this.#known = known;
  }

  /** Checks the health now, or as soon as listeners may be called again. */
  async look(): Promise<void> {
    this.#isDue = true;
    if (this.#isBusy) return;
    this.#isBusy = true;
    while (this.#isDue && this.#known.listeners.size > 0) {
      this.#isDue = false;
      if (this.#tell(await healthOf(this.#known))) {
        await new Promise<void>((resolve) => later(resolve, TELL_MS));
      }
    }
    this.#isBusy = false;
  }

  /** Calls the listeners for which the health is news; returns whether there were any. */
  #tell(health: Health): boolean {
    const { state, cause, isNearQuota } = health;
    const isCalm = /^(persistent|best-effort)$/.test(state) && isNearQuota !== true;
    const now = `${state} ${kindOfError(cause)} ${isNearQuota === true}`;
    const news = [...this.#known.listeners].filter((own) => {
      // A new listener is called only if something is wrong.
      const isNews = own.last === undefined ? !isCalm : own.last !== now;
      own.last = now;
      return isNews;
    });
    for (const { listener } of news) notify(listener, health);
    return news.length > 0;
  }
}
