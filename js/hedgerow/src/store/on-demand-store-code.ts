/** The parts of higher layers that an open store, and `importStore`, load at their first call; as in `on-demand-code.ts`. */
import { part } from '../base/dynamic-import.js';
import { HedgerowError } from '../base/errors.js';
import { memberOf } from '../base/runtime-type-checks.js';
import type { Connection } from '../sync/link/connection.js';
import type { SyncHost } from '../sync/link/linked-store-types.js';

/** Loads branches, merges, moves to earlier commits, exports and imports, in one file. */
export const storeParts = () => part(() => import('./on-demand-store-bundle.js'));

/** Loads the code of buckets. */
const bucketParts = () => part(() => import('../sync/lazy/connect-bucket.js'));

/** Load the functions that connect a store, by the kinds of transports. */
const CONNECTORS = {
  bucket: async () => (await bucketParts()).connectBucket,
  rest: async () => (await part(() => import('../sync/rest/open-rest-connection.js'))).connectRest,
  mutators: async () =>
    (await part(() => import('../sync/mutators/open-mutator-connection.js'))).connectMutators,
};

/** Loads all code of sync, for `preload`. */
export const loadTransports = async () => {
  const { rest, mutators } = CONNECTORS;
  const buckets = async () => (await bucketParts()).loadBucketParts();
  await Promise.all([rest(), mutators(), buckets()]);
};

/** Loads the function that connects a store by a transport. */
export async function loadConnector(
  transport: unknown,
): Promise<(host: SyncHost, transport: never) => Promise<Connection>> {
  const kind = memberOf(transport, 'kind');
  const [, load] = Object.entries(CONNECTORS).find(([name]) => name === kind) ?? [];
  if (load !== undefined) return load();
  const message = 'connect takes bucket(), rest() or mutators()';
  throw new HedgerowError('invalid-argument', message);
}
