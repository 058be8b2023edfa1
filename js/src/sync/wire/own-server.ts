/** What `hedgerow/mutators` and `hedgerow/rest` hand to a store, which opens it: so the code is loaded with the store's own parts. */
import { memberOf } from '../../base/kind.js';
import { checkHas } from '../../base/options.js';
import type { Remote } from '../remote/remote.js';

/** In the place of a remote: the app's own server, by the options that the app has given. */
export interface OwnServer {
  readonly kind: 'mutators' | 'rest';
  readonly wanted: object;
}

/** What is used of a store. */
export interface LinkableStore {
  remote(remote: Remote): Promise<unknown>;
}

/** Hands it to a store. Rejects with `invalid-argument` for what is none, such as the promise of one. */
export async function linkOwnServer(db: LinkableStore, server: OwnServer): Promise<unknown> {
  checkHas(server.kind, db, 'remote', 'a store, or a branch of one');
  return db.remote(server as unknown as Remote);
}

/** Whether it is no remote but a server of the app. */
export function isOwnServer(remote: Remote | OwnServer): remote is OwnServer {
  return memberOf(remote, 'wanted') !== undefined;
}
