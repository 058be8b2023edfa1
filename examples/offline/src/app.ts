/** The store of this app, connected to its server. */
import { live, open, rowType, type Transaction, table } from 'hedgerow';
import { mutators } from 'hedgerow/sync';
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

/** A refused change, and the person's text: a row of this device until they dismiss it. */
export interface Refused {
  /** The place of its call in the queue. */
  readonly id: string;
  readonly name: string;
  readonly args: Args;
  readonly why: string;
  readonly by: 'server' | 'here';
  /** Whether it may be at the server, which decides. */
  readonly isPending: boolean;
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
    refused: table({ schema: rowType<Refused>(), key: 'id', prefix: 'refused/' }),
  },
});
/** Rows of this device alone: the store itself has the server's rows. */
const { refused } = await db.branches.open('device');

export const connection = await db.connect(
  mutators({
    mutators: ours,
    pull: endpoint('pull'),
    push: endpoint('push'),
    onRejected({ place, name, args, error, isPending, why }) {
      const text = why ?? (error instanceof Error ? error.message : error);
      const by = why === undefined ? 'here' : 'server';
      const row = { id: String(place), name, args: args as Args, why: String(text), by, isPending };
      return refused.put(row as Refused);
    },
  }),
);

/** Makes a change, here and later at the server. */
export const change = (name: keyof typeof calls, args: object) => connection.mutate[name](args);

export const dismiss = ({ id }: Refused) => refused.delete(id);

/** All issues, the newest first. */
const list = live(db.issues.all().reverse());

/** Calls `listener` when rows have changed. */
export function watch(listener: () => Promise<void>): void {
  list.subscribe(() => void listener());
  refused.all().watch(listener, { initial: true });
}

/** Makes an id. Later ones are greater: the list is in the order of its keys. */
export const newID = () => `${Date.now().toString(36)}-${crypto.randomUUID().slice(0, 8)}`;

/** Returns the issues and changes to show. A change that the server has not taken is in the queue, or a row. */
export async function look() {
  const pending = connection.calls();
  const places = new Set(pending.map(({ place }) => String(place)));
  const all = await refused.all().toArray();
  // The server has taken pending changes that have left the queue.
  const shown = all.filter(({ id, isPending }) => !isPending || places.has(id));
  const { rows: issues, status } = list.get();
  return { issues, isThere: status !== 'loading', refused: shown, pending };
}
