/** The store of this app, connected to its server. */
import { live, open, rowType, type Transaction, table } from 'hedgerow';
import { mutators, type RejectedCall } from 'hedgerow/sync';
import { mutators as calls } from '../issues.mjs';
import { endpoint } from './network.js';

export interface Issue {
  readonly id: string;
  readonly title: string;
  readonly status: 'open' | 'closed';
}

export interface Args {
  readonly id?: string;
  readonly title?: string;
  readonly from?: string;
}

/** Adapts the transaction: the server's mutators have other names for writes. */
const onRows = (tx: Transaction) => ({
  get: (key: string) => tx.get(key),
  has: (key: string) => tx.has(key),
  set: (key: string, value: unknown) => tx.put(key, value),
  del: (key: string) => tx.delete(key),
});
type Call = (tx: Transaction, args: object) => Promise<void>;
const here =
  (call: (tx: object, args: object) => Promise<void>): Call =>
  (tx, args) =>
    call(onRows(tx), args);
const ours = Object.fromEntries(
  Object.entries(calls).map(([name, call]) => [name, here(call)]),
) as Record<keyof typeof calls, Call>;

const db = await open('hedgerow-example-offline', {
  tables: {
    // The prefix that the server's mutators use.
    issues: table({ schema: rowType<Issue>(), key: 'id', prefix: 'issue/' }),
  },
});

export const connection = await db.connect(
  mutators({
    mutators: ours,
    pull: endpoint('pull'),
    push: endpoint('push'),
  }),
);

/** Makes a change, here and later at the server. */
export const change = (name: keyof typeof calls, args: object) => connection.mutate[name](args);

/** Forgets a change that had no effect. */
export const dismiss = (call: RejectedCall) => connection.dismiss(call);

/** All issues, the newest first. */
const list = live(db.issues.all().reverse());

/** Calls `listener` when rows have changed. */
export function watch(listener: () => void): void {
  list.subscribe(listener);
  listener();
}

/** Makes an id. Later ones are greater: the list is in the order of its keys. */
export const newID = () => `${Date.now().toString(36)}-${crypto.randomUUID().slice(0, 8)}`;

/** Returns the issues and changes to show. A change that the server has not taken is in the queue, or rejected. */
export function look() {
  const { rows: issues, status } = list.get();
  const { rejected } = connection.state;
  return { issues, isThere: status !== 'loading', rejected, pending: connection.calls() };
}
