/** How healthy the storage of an open store is, and telling that to listeners. Loaded when it is first wanted. */

import type { HedgerowError } from '../base/errors.js';
import { type Persistence, persistence } from '../base/persistence.js';
import { notify } from '../base/report.js';
import type { Lifetime, Storage } from '../storage/segment-store.js';
import type { Health, HealthState, KnownHealth } from './health.js';

const NEAR_PART = 0.1;
const NEAR_BYTES = 64 << 20;
/** Listeners are called at most once in so many milliseconds. */
const TELL_MS = 1000;

/** The health of the storage now. Reads no rows, and never fails. */
export async function healthOf(known: KnownHealth): Promise<Health> {
  const { storage, unavailable, honoursStrict } = known;
  const { lifetime } = storage;
  const told = await platformOf(lifetime);
  const isPersistent = told.isPersistent === true;
  // No browser keeps the storage of a private window.
  const isPrivate = !isPersistent && (await isPrivateWindow(storage));
  // Last, so that nothing has changed since.
  const { read, write } = known.failures;
  const cause = write ?? read ?? unavailable;
  const isNearQuota = isNear(told);
  const facts = { cause, ...told, isNearQuota, honoursStrict };
  const means = (state: HealthState, message: string) => ({ state, message, ...facts });
  if (write !== undefined || read !== undefined) return means('failing', failing(write, read));
  if (lifetime === 'session') return means('ephemeral', unavailable ? UNAVAILABLE : IN_MEMORY);
  if (isPrivate) return means('ephemeral', PRIVATE);
  return isPersistent ? means('persistent', PERSISTENT) : means('best-effort', BEST_EFFORT);
}

/** What the platform says. The quota of the origin is not that of memory or of files. */
async function platformOf(lifetime: Lifetime | undefined): Promise<Persistence> {
  if (lifetime === undefined || lifetime === 'origin') return persistence();
  const isPersistent = lifetime === 'permanent';
  return { quotaBytes: undefined, usageBytes: undefined, isPersistent };
}

async function isPrivateWindow(storage: Storage): Promise<boolean> {
  try {
    return (await storage.isPrivate?.()) === true;
  } catch {
    // What cannot be found out is not claimed.
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
    return 'There is no room: the last write was not stored. Stored rows are kept and can be read.';
  }
  if (write === undefined)
    return 'The last read of storage failed. Nothing shows that rows are lost.';
  return 'The last write was not stored, or its answer was lost. Nothing shows that older rows are lost.';
}

/** Calls listeners when the health has changed. */
export class HealthTeller {
  readonly #known: KnownHealth;
  #isBusy = false;
  #isDue = false;

  constructor(known: KnownHealth) {
    this.#known = known;
  }

  /** Looks now, or once it may tell again. */
  async look(): Promise<void> {
    this.#isDue = true;
    if (this.#isBusy) return;
    this.#isBusy = true;
    while (this.#isDue && this.#known.listeners.size > 0) {
      this.#isDue = false;
      if (this.#tell(await healthOf(this.#known))) await pause(TELL_MS);
    }
    this.#isBusy = false;
  }

  /** Whether somebody was told. */
  #tell(health: Health): boolean {
    const { state, cause, isNearQuota } = health;
    const isCalm = /^(persistent|best-effort)$/.test(state) && isNearQuota !== true;
    const now = `${state} ${cause?.code} ${isNearQuota === true}`;
    const news = [...this.#known.listeners].filter((own) => {
      // A new listener hears only of what is wrong.
      const isNews = own.told === undefined ? !isCalm : own.told !== now;
      own.told = now;
      return isNews;
    });
    for (const { listener } of news) notify(listener, health);
    return news.length > 0;
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    // Node must not wait for it.
    (timer as { unref?(): void }).unref?.();
  });
}
