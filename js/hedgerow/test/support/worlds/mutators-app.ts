/** An app of issues, and its server. */
import { afterEach } from 'vitest';
import type { Transaction } from '../../../src/engine/transaction/transaction.js';
import { memory, type OpenOptions, open, type Storage, type Store } from '../../../src/index.js';
import {
  type MutatorConnection,
  type MutatorOptions,
  type Mutators,
  mutators,
  type RejectedCall,
} from '../../../src/sync/mutators/index.js';
import { json, type ServerDouble } from '../doubles/mutators-server.js';
import { takeRejected } from './rejected-calls.js';

export interface Issue {
  readonly title: string;
  readonly isClosed: boolean;
}

export const ours = {
  async openIssue(tx: Transaction, { id, title }: { id: string; title: string }) {
    tx.put(`issue/${id}`, { title, isClosed: false });
    return id;
  },
  async closeIssue(tx: Transaction, { id }: { id: string }) {
    const issue = await tx.get<Issue>(`issue/${id}`);
    if (issue === undefined) throw new Error('no such issue');
    tx.put(`issue/${id}`, { ...issue, isClosed: true });
  },
  async add(tx: Transaction, by: number) {
    tx.put('count', ((await tx.get<number>('count')) ?? 0) + by);
  },
  nothing() {},
};

export const theirs = {
  openIssue(rows: Map<string, unknown>, { id, title }: { id: string; title: string }) {
    if (title === 'refused') throw new Error('refused');
    rows.set(`issue/${id}`, { title, isClosed: false });
  },
  closeIssue(rows: Map<string, unknown>, { id }: { id: string }) {
    const issue = rows.get(`issue/${id}`) as Issue;
    if (issue === undefined) throw new Error('no such issue');
    rows.set(`issue/${id}`, { ...issue, isClosed: true });
  },
  add(rows: Map<string, unknown>, by: number) {
    rows.set('count', ((rows.get('count') as number | undefined) ?? 0) + by);
  },
  nothing() {},
  later(rows: Map<string, unknown>) {
    rows.set('later', true);
  },
};

const stores: Store[] = [];
afterEach(async () => {
  for (const db of stores.splice(0)) await db.close();
});

export async function store(options: OpenOptions = {}): Promise<Store> {
  const db = await open('app', { storage: memory(), ...options });
  stores.push(db);
  return db;
}

export function bind(
  db: Store,
  server: ServerDouble,
  options: Partial<MutatorOptions<typeof ours>> = {},
): Promise<MutatorConnection<typeof ours>> {
  return bound(db, server, { mutators: ours, ...options });
}

/** Binds a store to a server, with the test's own mutators. */
export function bound<M extends Mutators>(
  db: Store,
  server: ServerDouble,
  options: Pick<MutatorOptions<M>, 'mutators'> & Partial<MutatorOptions<M>>,
): Promise<MutatorConnection<M>> {
  return db.connect(
    mutators({
      pull: (request) => json(server.pull(request)),
      push: (request) => json(server.push(request)),
      ...options,
    }),
  );
}

/** Returns a list that gets each call that a connection rejects. */
export function rejectedBy<M extends Mutators>(app: MutatorConnection<M>): RejectedCall[] {
  const found: RejectedCall[] = [];
  takeRejected(app, (call) => found.push(call));
  return found;
}

/** A device of a server, which has pulled once. */
export async function device<M extends Mutators>(
  server: ServerDouble,
  mine: M,
  storage: Storage = memory(),
) {
  const db = await open('app', { storage });
  const app = await bound(db, server, { mutators: mine });
  const rejected = rejectedBy(app);
  await app.pull();
  const sync = async () => {
    await app.push();
    await app.pull();
  };
  return { db, app, sync, rejected };
}

export async function rowsOf(db: Store): Promise<Record<string, unknown>> {
  const rows: [string, unknown][] = [];
  for await (const row of db.scan()) rows.push(row);
  return Object.fromEntries(rows);
}
