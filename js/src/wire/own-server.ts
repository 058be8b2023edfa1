/** What `hedgerow/mutators` and `hedgerow/rest` hand to a store, which opens it: so the code is loaded with the store's own parts. */
import { HedgerowError } from '../base/errors.js';
import { kindOf } from '../base/kind.js';
import type { Remote } from '../remote/remote.js';

/** In the place of a remote: the app's own server, by the options that the app has given. */
export interface OwnServer {
  readonly kind: 'mutators' | 'rest';
  readonly wanted: object;
}

/** What is used of a store. */
export interface Linking {
  remote(remote: Remote): Promise<unknown>;
}

/** Hands it to a store. Rejects with `invalid-argument` for what is none, such as the promise of one. */
export async function linked(db: Linking, server: OwnServer): Promise<unknown> {
  if (typeof (db as Linking | undefined | null)?.remote !== 'function') {
    const message = `${server.kind} takes a store, or a branch of one, not ${kindOf(db)}`;
    throw new HedgerowError('invalid-argument', message);
  }
  return db.remote(server as unknown as Remote);
}

/** Whether it is no remote but a server of the app. */
export function isOwnServer(remote: Remote | OwnServer): remote is OwnServer {
  return typeof remote === 'object' && remote !== null && 'wanted' in remote;
}
