/** Edits and syncs, until the page is gone. */
import type { Store } from 'hedgerow';
import type { BucketConnection } from 'hedgerow/sync';
import { BASE, numbered, SHARED, SHARED_KEYS } from '../lib/sync/keys.mjs';
import { Control } from './control.js';
import { mix, textOf } from './script.js';
import {
  BULK,
  BULK_ROWS,
  cloned,
  commitToControl,
  controlPlan,
  type Edited,
  resumed,
  type SyncPlan,
  tell,
} from './sync-plan.js';

const SHORT_TEXT = 60;
const BULK_TEXT = 600;

/** Begins; reports failures to the driver. */
export function startSyncing(plan: SyncPlan): void {
  const failed = (cause: unknown) => tell(plan, 'failed', String(cause));
  new Syncing(plan).run().catch(failed);
}

/** Edits all rows that both devices edit, and ends. */
export function editFirst(plan: SyncPlan): Promise<void> {
  return new Syncing(plan).editAll();
}

class Syncing {
  readonly #plan: SyncPlan;
  #next: number;
  declare db: Store;
  declare connection: BucketConnection;
  declare control: Control;

  constructor(plan: SyncPlan) {
    this.#plan = plan;
    this.#next = plan.next;
  }

  async run(): Promise<never> {
    const plan = this.#plan;
    this.control = await Control.open(controlPlan(plan));
    if (plan.phase === 'clone') Object.assign(this, await this.#call('clone', () => cloned(plan)));
    else await this.#resume();
    for (let nth = 0; ; nth++) {
      switch (plan.phase) {
        case 'clone':
          // A whole clone is done, if it was not killed yet.
          if (plan.isLazy) await this.#call('read', () => this.#read(nth));
          else await this.#call('pull', () => this.connection.pull());
          break;
        case 'push':
          for (let more = mix(plan.seed, nth) % 3; more >= 0; more--) await this.#edit();
          await this.#call('push', () => this.connection.push());
          break;
        case 'pull':
          await this.#edit();
          await this.#call('pull', () => this.connection.pull());
          break;
        case 'checkpoint':
          await this.#load();
          await this.#call('push', () => this.connection.push());
          break;
      }
    }
  }

  async editAll(): Promise<void> {
    this.control = await Control.open(controlPlan(this.#plan));
    await this.#resume();
    await this.db.close();
    this.control.close();
  }

  /** Edits before any news from the remote: also from pushes whose outcome is unknown. */
  async #resume(): Promise<void> {
    Object.assign(this, await this.#call('open', () => resumed(this.#plan)));
    for (let nth = 0; nth < SHARED_KEYS; nth++) await this.#edit(nth, false);
  }

  /** Runs `work`; the driver hears of its begin and its end. */
  async #call<T>(name: string, work: () => Promise<T>): Promise<T> {
    await tell(this.#plan, 'called', name);
    const result = await work();
    await tell(this.#plan, 'returned', name);
    return result;
  }

  /** Reads rows that may still be missing. */
  async #read(nth: number): Promise<void> {
    const { seed, rows } = this.#plan;
    const from = mix(seed, nth) % rows;
    const gte = numbered(BASE, from);
    if (nth % 3 === 0) await this.db.get(gte);
    else if (nth % 3 === 1) await this.db.scan({ gte, limit: 100 }).toArray();
    else await this.connection.prefetch({ gte, lt: numbered(BASE, from + 200) });
  }

  /**
   * Edits or deletes a row that the other device edits, too. The driver hears of each possible edit, and of the one
   * that it has seen: no other edit comes between this report and the commit.
   */
  async #edit(nth?: number, mayDelete = true): Promise<void> {
    const at = this.#next++;
    const chosen = mix(this.#plan.seed, at);
    const key = numbered(SHARED, nth ?? chosen % SHARED_KEYS);
    const isDeletion = mayDelete && chosen % 7 === 0;
    const edit = this.db.transaction(async (tx) => {
      const before = await tx.get<Edited>(key);
      await this.#begun(at, key, before, isDeletion);
      if (isDeletion) tx.delete(key);
      else tx.put(key, { id: idOf(at), text: textOf(chosen, SHORT_TEXT) });
    });
    await this.#made(at, edit);
  }

  /** Writes so many rows in one commit that its push makes a checkpoint. */
  async #load(): Promise<void> {
    const at = this.#next++;
    const before = await this.db.get<Edited>(numbered(BULK, 0));
    await this.#begun(at, BULK, before, false);
    const rows = Array.from({ length: BULK_ROWS }, (_, nth): [string, unknown] => [
      numbered(BULK, nth),
      { id: idOf(at), text: textOf(mix(nth, at), BULK_TEXT) },
    ]);
    await this.#made(at, this.db.putMany(rows));
  }

  #begun(at: number, key: string, before: Edited | undefined, isDeletion: boolean) {
    return tell(this.#plan, 'begun', idOf(at), key, before?.id ?? null, isDeletion);
  }

  async #made(at: number, edit: Promise<unknown>): Promise<void> {
    await edit;
    await commitToControl(this.control, at);
    await tell(this.#plan, 'acknowledged', idOf(at));
  }
}

const idOf = (at: number) => `page ${at}`;
