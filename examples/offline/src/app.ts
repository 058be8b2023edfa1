/** The store of this app, bound to its server. */
import { open, type Transaction } from 'hedgerow';
import { live } from 'hedgerow/live';
import { mutators, type RejectedCall } from 'hedgerow/mutators';
import { table } from 'hedgerow/tables';
import { calls } from '../issues.mjs';
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

/** A row of the server: it has refused a call of a device. */
interface Refusal {
  /** The device, a slash, and the call. */
  readonly id: string;
  readonly name: string;
  readonly args: Args;
  readonly why: string;
}

/** A change that was not taken, and what the person wrote. */
export interface Refused extends Omit<Refusal, 'id'> {
  /** The server's refusal, or the call that the server has still to decide. */
  readonly of: Refusal | RejectedCall;
}

/** Stands for this device in its calls, so that refusals find it. */
const by = localStorage.getItem('device') ?? crypto.randomUUID();
localStorage.setItem('device', by);

/** The mutators of the server call their writes otherwise. */
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
    // As the mutators of the server name their rows.
    issues: table<Issue>()({ key: 'id', prefix: 'issue/' }),
    refusals: table<Refusal>()({ key: 'id', prefix: 'refused/' }),
  },
});
/** Calls that had no effect when they ran again on what others have done. */
const rejected: RejectedCall[] = [];

export const link = await mutators(db, {
  mutators: ours,
  pull: endpoint('pull'),
  push: endpoint('push'),
  onRejected: (call) => void rejected.push(call),
});

/** Makes a change, here and later at the server. */
export const change = (name: keyof typeof calls, args: object) =>
  link.mutate[name]({ ...args, by });

/** All issues, the newest first. */
const list = live(db.issues.all().reverse());

const ofThisDevice = db.refusals.where({ id: { startsWith: `${by}/` } });

/** Calls `listener` when rows have changed. */
export function watch(listener: () => Promise<void>): void {
  list.subscribe(() => void listener());
  ofThisDevice.watch(listener, { initial: true });
}

/** Later ones are greater: the list is in the order of its keys. */
export const newID = () => `${Date.now().toString(36)}-${crypto.randomUUID().slice(0, 8)}`;

/** What there is to be seen. A refused change is in the queue, or a row: never in neither. */
export async function look() {
  // The queue first: what leaves it meanwhile is found as a row.
  const pending = link.pending();
  const rows = await ofThisDevice.toArray();
  const refused = new Map<string, Refused>();
  for (const call of rejected.filter(({ place }) => pending.some((one) => one.place === place))) {
    const { clientID, id, name, args, error } = call;
    const why = error instanceof Error ? error.message : String(error);
    refused.set(`${clientID}-${id}`, { name, args: args as Args, why, of: call });
  }
  for (const row of rows) refused.set(row.id.split('/')[1]!, { ...row, of: row });
  const { rows: issues, status } = list.get();
  return { issues, isThere: status !== 'loading', refused, pending };
}
