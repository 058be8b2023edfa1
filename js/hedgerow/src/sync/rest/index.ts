/** The transport to a server of plain rows, without mutators. */
import type { Transport } from '../link/transport.js';
import type { RestConnection } from './rest-connection.js';
import type { RestOptions } from './rest-options.js';

export type { RestPush } from './push-rows.js';
export type { RestConnection } from './rest-connection.js';
export type { RestOptions } from './rest-options.js';
export type {
  RefusedChange,
  RestChange,
  RestEndpoint,
  RestPulled,
  RestPullRequest,
  RestPushed,
  RestPushRequest,
} from './types.js';

export interface RestTransport extends Transport<RestConnection> {
  readonly kind: 'rest';
  readonly options: RestOptions;
}

/**
 * Returns the transport to a server that has rows and no mutators. `push` sends the changes here to it, row by row;
 * `pull` brings the changes there, and merges them three-way. Rows that were here before are changes, too.
 */
export function rest(options: RestOptions): RestTransport {
  return { kind: 'rest', options };
}
