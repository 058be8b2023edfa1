/** What `hedgerow/mutators` hands to a store, which opens it: so the code is loaded with the store's own parts. */
import type { Remote } from '../remote/remote.js';
import type { MutatorOptions, Mutators } from './types.js';

/** In the place of a remote: the app's own server. */
export interface OwnServer {
  readonly wanted: MutatorOptions<Mutators>;
}

/** Whether it is no remote but a server of the app. */
export function isOwnServer(remote: Remote | OwnServer): remote is OwnServer {
  return typeof remote === 'object' && remote !== null && 'wanted' in remote;
}
