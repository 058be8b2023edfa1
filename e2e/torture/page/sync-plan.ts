/** The messages between the driver and a page that syncs. `../lib/sync` has the other side. */
import { clone, type OpenOptions, open, type Store } from 'hedgerow';
import { atRest, remoteKeys } from 'hedgerow/encryption';
import { type BucketConnection, type BucketOptions, bucket, httpRemote } from 'hedgerow/sync';
import type { Control } from './control.js';
import type { Commit, Plan } from './script.js';

/** The page's work until it is killed. */
export type SyncPhase = 'clone' | 'push' | 'pull' | 'checkpoint';

export interface SyncPlan {
  readonly store: string;
  readonly seed: number;
  readonly phase: SyncPhase;
  readonly isLazy: boolean;
  readonly policy: 'fields' | 'remote' | 'local';
  /** The key of the remote and of the storage; without it both are plain. */
  readonly key?: readonly number[];
  /** The addresses of the remote and of the driver. */
  readonly remote: string;
  readonly driver: string;
  /** The number of the next edit. */
  readonly next: number;
  /** Rows that the remote begins with, in blocks of so many, which one commit of the other device writes. */
  readonly rows: number;
  readonly blockRows: number;
}

/** A row with its edit; the rows of one commit have one id. */
export interface Edited {
  readonly id: string;
}

/** Rows that only the page writes, all in one commit: enough for a checkpoint. */
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
  ({ probe: false, policy: plan.policy, ...encryptionOf(plan).link }) satisfies BucketOptions;

const placeOf = (plan: SyncPlan) => bucket(httpRemote({ url: plan.remote }), linkOptions(plan));

/** Opens the store, with the rows of the remote. */
export function cloned(plan: SyncPlan): ReturnType<typeof clone> {
  return clone(plan.store, placeOf(plan), {
    ...encryptionOf(plan).store,
    mode: plan.isLazy ? 'lazy' : 'full',
  });
}

/** Opens the store as it is, without a request, unless it has no rows yet. */
export async function resumed(plan: SyncPlan): ReturnType<typeof clone> {
  // A lazy clone that has begun makes no request, either.
  if (plan.isLazy) return cloned(plan);
  const db = await opened(plan);
  if ((await db.count()) > 0) return { db, connection: await linkOf(db, plan) };
  await db.close();
  return cloned(plan);
}

/** Connects a store to the remote, without a request. */
export function linkOf(db: Store, plan: SyncPlan): Promise<BucketConnection> {
  return db.connect(placeOf(plan));
}

/** Opens the local store. A lazy clone needs its remote for missing rows. */
export async function opened(plan: SyncPlan): Promise<Store> {
  if (plan.isLazy) return (await cloned(plan)).db;
  return open(plan.store, encryptionOf(plan).store);
}

/** Reports to the driver; resolves when the report has arrived. */
export async function tell({ driver }: SyncPlan, ...message: unknown[]): Promise<void> {
  // As plain text it needs no preflight.
  const { ok } = await fetch(driver, { method: 'POST', body: JSON.stringify(message) });
  if (!ok) throw new Error(`the driver does not take ${JSON.stringify(message)}`);
}

/** Returns the plan of a store's control: a commit of one row for each edit. */
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
