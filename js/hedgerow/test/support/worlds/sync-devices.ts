/** Devices that meet at a remote, for the tests of sync. */
import { hex } from '../../../src/base/hex.js';
import { HedgerowError, memory, type OpenOptions, open, type Store } from '../../../src/index.js';
import type { Link } from '../../../src/sync/link/link.js';
import type { LinkOptions } from '../../../src/sync/link/open-link.js';
import type { Remote } from '../../../src/sync/remote/index.js';
import { random } from '../random.js';

export interface Device {
  readonly db: Store;
  readonly link: Link;
}

export async function device(
  remote: Remote,
  options: LinkOptions = {},
  storeOptions: OpenOptions = {},
): Promise<Device> {
  const db = await open('app', { storage: memory(), ...storeOptions });
  return { db, link: await db.remote(remote, { probe: false, ...options }) };
}

export async function rowsOf(db: Store): Promise<Record<string, unknown>> {
  const rows: [string, unknown][] = [];
  for await (const row of db.scan()) rows.push(row);
  return Object.fromEntries(rows);
}

export const offline = () => new HedgerowError('offline', 'the network is down');

/** Requests and bytes of a call. */
export async function cost(link: Link, call: () => Promise<unknown>) {
  const before = link.traffic;
  await call();
  const after = link.traffic;
  return {
    requests: after.requests - before.requests,
    sent: after.sentBytes - before.sentBytes,
    received: after.receivedBytes - before.receivedBytes,
  };
}

/** Rows that deflate little. */
export function many(count: number, note: string): [string, unknown][] {
  const from = random(count);
  return Array.from({ length: count }, (_, nth) => [
    `k${String(nth).padStart(6, '0')}`,
    { nth, note, text: hex(from.bytes(60)) },
  ]);
}
