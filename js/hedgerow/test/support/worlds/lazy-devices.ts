/** A remote with many rows, and devices that read some of them: for the tests of lazy clones. */
import { hex } from '../../../src/base/hex.js';
import {
  clone,
  HedgerowError,
  memory,
  open,
  type Storage,
  type Store,
} from '../../../src/index.js';
import type { CloneOptions } from '../../../src/store/clone-from-remote.js';
import type { BucketConnection, BucketOptions } from '../../../src/sync/index.js';
import { bucket } from '../../../src/sync/link/bucket.js';
import { memoryRemote, type Remote } from '../../../src/sync/remote/index.js';
import { random } from '../random.js';
import { cost } from './sync-devices.js';

export const keyOf = (nth: number) => `issue/${String(nth).padStart(8, '0')}`;

/** Returns a row of about 130 bytes, or more. */
export function rowOf(nth: number, state = 'open', bytes = 30): [string, unknown] {
  const title = hex(random(nth).bytes(bytes));
  return [keyOf(nth), { id: keyOf(nth), title, state, points: nth % 100 }];
}

export async function published(
  rows: number,
  bytes = 30,
  options: BucketOptions = {},
): Promise<{ remote: Remote; from: Store; link: BucketConnection }> {
  const remote = memoryRemote();
  const from = await open('from', { storage: memory() });
  await from.putMany(Array.from({ length: rows }, (_, nth) => rowOf(nth, 'open', bytes)));
  const link = await from.connect(bucket(remote, { probe: false, ...options }));
  await link.push();
  return { remote, from, link };
}

/** The remote, which can be switched off. */
export function switched(inner: Remote): Remote & { isOff: boolean } {
  const check = () => {
    if (remote.isOff) throw new HedgerowError('offline', 'the network is down');
  };
  const remote = {
    ...inner,
    isOff: false,
    async readHead(...call: Parameters<Remote['readHead']>) {
      check();
      return inner.readHead(...call);
    },
    async readHeadSince(...call: Parameters<Remote['readHeadSince']>) {
      check();
      return inner.readHeadSince(...call);
    },
    async get(...call: Parameters<Remote['get']>) {
      check();
      return inner.get(...call);
    },
  };
  return remote;
}

/** Returns the error of a call. */
export async function caught(call: Promise<unknown>): Promise<HedgerowError> {
  try {
    await call;
  } catch (cause) {
    return cause as HedgerowError;
  }
  throw new Error('it does not reject');
}

/** Returns the result of a call, and its traffic. */
export async function asked<T>(link: BucketConnection, call: () => Promise<T>) {
  let result: T | undefined;
  const travelled = await cost(link, async () => {
    result = await call();
  });
  return { ...travelled, result };
}

export const lazy = async (
  remote: Remote,
  storage: Storage,
  name = 'app',
  { link, ...options }: CloneOptions & { readonly link?: BucketOptions } = {},
) => {
  const place = bucket(remote, { probe: false, ...link });
  const { db, connection } = await clone(name, place, { storage, mode: 'lazy', ...options });
  return { db, link: connection };
};

export async function rowsOf(db: Store): Promise<Map<string, unknown>> {
  const rows = new Map<string, unknown>();
  for await (const [key, value] of db.scan()) rows.set(key, value);
  return rows;
}
