/** The connection whose state a component shows. For all frameworks. */

import type { ConnectionState } from '../../sync/link/connection-state.js';
import type { LiveStatus } from '../types.js';
import type { LiveCall } from './observed-query.js';

/** The members of a connection that a component needs. */
export interface ObservableConnection<State extends ConnectionState = ConnectionState> {
  readonly state: State;
  readonly subscribe: (listener: () => void) => () => void;
}

/** The state that is shown without a connection, and on a server. */
const NONE = {
  ...{ status: 'stopped', isPending: false, isFilled: false, isLeader: false },
  ...{
    error: undefined,
    retryAt: undefined,
    pendingCalls: 0,
    rejected: [],
    canUndo: false,
    canRedo: false,
  },
};

/** Shows the state of a connection as a live query shows its rows. */
function viewOf(connection: ObservableConnection) {
  const view: object = {
    get: () => connection.state,
    subscribe: connection.subscribe,
    renew() {},
    next: (other: ObservableConnection) => (other === connection ? view : viewOf(other)),
  };
  return view;
}

export const CONNECTION = {
  begin: viewOf,
  least: 1,
  loading: NONE,
} as unknown as LiveCall<LiveStatus>;
