/** A store in a worker, and pages of it: both ends of message channels in one process. */
import { memory, type OpenOptions, open, type Store } from '../../../src/index.js';
import type { Tables } from '../../../src/store/tables/types.js';
import { type ConnectOptions, connect, type RemoteStore } from '../../../src/worker/index.js';
import { type ServeOptions, serve, type WorkerService } from '../../../src/worker/serve.js';
import { opened, wire } from '../doubles/worker-wire.js';

export { closeAll, wire } from '../doubles/worker-wire.js';

let names = 0;

export interface World<T extends Tables> {
  readonly served: WorkerService;
  readonly host: MessagePort;
  /** The store in the worker. */
  readonly store: () => Promise<Store>;
  /** Connects one more page. */
  page(options?: ConnectOptions): Promise<RemoteStore<T>>;
}

/** A worker that pages connect to. */
export function world<T extends Tables = Record<never, never>>(
  tables?: T,
  { serving = {}, ...options }: OpenOptions & { serving?: Partial<ServeOptions> } = {},
): World<T> {
  const { page, host } = wire();
  let db: Promise<Store> | undefined;
  const name = `worker ${++names}`;
  const store = () => {
    db ??= (
      tables === undefined
        ? open(name, { storage: memory(), ...options })
        : open(name, { storage: memory(), tables, ...options })
    ) as Promise<Store>;
    return db;
  };
  const served = serve({ open: store, port: host, ...serving });
  opened.push(() => served.close());
  // Works like a worker: it gets a port with its message, and the other ports keep working.
  const target = { postMessage: page.postMessage.bind(page) };
  return {
    served,
    host,
    store,
    async page(options) {
      const remote = await connect<T>(target as Worker, options);
      opened.push(() => remote.close());
      return remote;
    },
  };
}

/** Waits until a condition holds. */
export async function until(isSo: () => unknown, what = 'it'): Promise<void> {
  const endMs = performance.now() + 120_000;
  while (!(await isSo())) {
    if (performance.now() > endMs) throw new Error(`${what} does not come`);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}
