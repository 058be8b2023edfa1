/** `hedgerow/worker`: a store in a worker. Pages call `connect`, and need no core; the worker calls `serve`. */

export { type Connectable, type ConnectOptions, connect } from './connect.js';
export type {
  RemoteQuery,
  RemoteSnapshot,
  RemoteStore,
  RemoteTransaction,
} from './page/remote-handle-types.js';
export { type ServeOptions, serve, type WorkerService } from './serve.js';
