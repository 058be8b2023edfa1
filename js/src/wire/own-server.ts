/** What `hedgerow/mutators` and `hedgerow/rest` hand to a store, which opens it: so the code is loaded with the store's own parts. */
import type { Remote } from '../remote/remote.js';

/** In the place of a remote: the app's own server, by the options that the app has given. */
export interface OwnServer {
  readonly kind: 'mutators' | 'rest';
  readonly wanted: object;
}

/** Whether it is no remote but a server of the app. */
export function isOwnServer(remote: Remote | OwnServer): remote is OwnServer {
  return typeof remote === 'object' && remote !== null && 'wanted' in remote;
}
