/** Hands the app's own server to a store, which opens it: so the code is loaded with the store's own parts. */

import { checkHas } from '../../base/check-options.js';
import { memberOf } from '../../base/runtime-type-checks.js';
import type { Remote } from '../remote/remote.js';

/** The app's own server, in the place of a remote, with the options of the app. */
export interface OwnServer {
  readonly kind: 'mutators' | 'rest';
  readonly wanted: object;
}

/** The part of a store that is used. */
export interface LinkableStore {
  remote(remote: Remote): Promise<unknown>;
}

/** Hands a server to a store. Rejects with `invalid-argument` if `db` is no store, such as the promise of one. */
export async function linkOwnServer(db: LinkableStore, server: OwnServer): Promise<unknown> {
  checkHas(server.kind, db, 'remote', 'a store, or a branch of one');
  return db.remote(server as unknown as Remote);
}

/** Returns whether this is a server of the app, and no remote. */
export function isOwnServer(remote: Remote | OwnServer): remote is OwnServer {
  return memberOf(remote, 'wanted') !== undefined;
}
