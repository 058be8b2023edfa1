/** Devices that meet at a remote, for the tests of sync. */
import { hex } from '../../../src/base/hex.js';
import { HedgerowError, memory, type OpenOptions, open, type Store } from '../../../src/index.js';
import { bucket } from '../../../src/sync/link/bucket.js';
import type { BucketConnection } from '../../../src/sync/link/bucket-connection.js';
import type { BucketOptions } from '../../../src/sync/link/open-bucket-connection.js';
import type { Remote } from '../../../src/sync/remote/index.js';
import { random } from '../random.js';

export interface Device {
  readonly db: Store;
  readonly link: BucketConnection;
}

export async function device(
  remote: Remote,
  options: BucketOptions = {},
  storeOptions: OpenOptions = {},
): Promise<Device> {
  const db = await open('app', { storage: memory(), ...storeOptions });
  return { db, link: await db.connect(bucket(remote, { probe: false, ...options })) };
}

export async function rowsOf(db: Store): Promise<Record<string, unknown>> {
  const rows: [string, unknown][] = [];
  for await (const row of db.scan()) rows.push(row);
  return Object.fromEntries(rows);
}

export const offline = () => new HedgerowError('offline', 'the network is down');

/** Requests and bytes of a call. */
export async function cost(link: BucketConnection, call: () => Promise<unknown>) {
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
