/** What the driver tells a page that syncs, and what the page tells the driver. `../lib/sync` has the other side. */
import {
  type Clone,
  clone,
  type Link,
  type LinkOptions,
  type OpenOptions,
  open,
  type Store,
} from 'hedgerow';
import { atRest, remoteKeys } from 'hedgerow/encryption';
import { httpRemote } from 'hedgerow/remote';
import type { Control } from './control.js';
import type { Commit, Plan } from './script.js';

/** What a page does until it is killed. */
export type SyncPhase = 'clone' | 'push' | 'pull' | 'checkpoint';

export interface SyncPlan {
  readonly store: string;
  readonly seed: number;
  readonly phase: SyncPhase;
  readonly isLazy: boolean;
  readonly policy: 'fields' | 'remote' | 'local';
  /** Of the remote and of the storage; nothing is encrypted without one. */
  readonly key?: readonly number[];
  /** Where the remote is, and where the driver listens. */
  readonly remote: string;
  readonly driver: string;
  /** The number of the next edit. */
  readonly next: number;
  /** Rows that the remote begins with, in blocks of so many, which one commit of the other device writes. */
  readonly rows: number;
  readonly blockRows: number;
}

/** A row that somebody has written; those of one commit have one id. */
export interface Edited {
  readonly id: string;
}

/** Rows that the page alone writes, all of them in one commit: enough for a checkpoint. */
export const BULK = 'bulk/';
export const BULK_ROWS = 3000;

const encryptionOf = ({ key }: SyncPlan) => {
  const bytes = key && new Uint8Array(key);
  return {
    store: { encryption: bytes && atRest({ key: bytes }) } satisfies OpenOptions,
    link: { encryption: bytes && remoteKeys({ place: 'room', keys: () => bytes }) },
  };
};

const linkOptions = (plan: SyncPlan) =>
  ({ probe: false, policy: plan.policy, ...encryptionOf(plan).link }) satisfies LinkOptions;

/** Opens the store, with the rows of the remote. */
export function cloned(plan: SyncPlan): Promise<Clone> {
  return clone(plan.store, httpRemote({ url: plan.remote }), {
    ...encryptionOf(plan).store,
    mode: plan.isLazy ? 'lazy' : 'full',
    link: linkOptions(plan),
  });
}

/** Opens the store as it is, and asks for nothing; but for one that has no rows yet. */
export async function resumed(plan: SyncPlan): Promise<Clone> {
  // A lazy clone that was begun asks for nothing, either.
  if (plan.isLazy) return cloned(plan);
  const db = await opened(plan);
  if ((await db.count()) > 0) return { db, link: await linkOf(db, plan) };
  await db.close();
  return cloned(plan);
}

/** Links a store to the remote, without a request. */
export function linkOf(db: Store, plan: SyncPlan): Promise<Link> {
  return db.remote(httpRemote({ url: plan.remote }), linkOptions(plan));
}

/** Opens what is here. A lazy clone needs its remote for what is not. */
export async function opened(plan: SyncPlan): Promise<Store> {
  if (plan.isLazy) return (await cloned(plan)).db;
  return open(plan.store, encryptionOf(plan).store);
}

/** Tells the driver something; resolves when it knows. */
export async function tell({ driver }: SyncPlan, ...message: unknown[]): Promise<void> {
  // As plain text it needs no leave.
  const { ok } = await fetch(driver, { method: 'POST', body: JSON.stringify(message) });
  if (!ok) throw new Error(`the driver does not take ${JSON.stringify(message)}`);
}

/** The plan of the control beside a store: a commit of one row for each edit. */
export const controlPlan = ({ store, seed }: SyncPlan): Plan => ({
  store,
  seed,
  phase: 'puts',
  rows: 1,
  durability: 'relaxed',
});

export const controlCommit = (at: number): Commit => ({ kind: 'put', ids: [at] });

export const commitToControl = (control: Control, at: number) =>
  control.commit('puts', at, controlCommit(at));
