/** Answers the pages that have their store in this worker. */

import { anything, checkHas, mandatory, type OptionsOf, optionsOf } from '../base/check-options.js';
import { HedgerowError, kindOfError } from '../base/errors.js';
import type { Store } from '../store/store.js';
import { checkMs } from './check-timer-ms.js';
import { type ConnectionHost, PageConnection } from './host/page-connection.js';
import type { TableForms } from './host/replay-call-path.js';
import { holdLife } from './liveness-lock.js';
import { CONNECT, HELLO } from './protocol.js';

const SERVE_OPTIONS = {
  /** Opens the store, when the first page connects: `() => open('app', { tables })`. All pages share it. */
  open: mandatory(anything<() => Promise<Store>>()),
  /** The port of one page, whose other end `connect` gets. By default, the worker listens for pages itself. */
  port: anything<MessagePort>(),
  /**
   * Milliseconds after which the worker gives up a page that does not answer, such as a frozen one, and releases its
   * objects. The page gets `disconnected` once it is thawed. 10 minutes by default.
   */
  silentMs: anything<number>(),
};

/** Options of `serve`. */
export interface ServeOptions extends OptionsOf<typeof SERVE_OPTIONS> {}

/** The service that `serve` returns. */
export interface WorkerService {
  /** The number of connected pages. */
  readonly connections: number;
  /** Ends all connections, and closes the store. */
  close(): Promise<void>;
}

const SILENT_MS = 600_000;

/**
 * The key of a worker's service. WebKit evaluates the worker's module again when a part that is loaded later imports
 * from it.
 */
const SERVED: unique symbol = Symbol.for('hedgerow.served') as never;

/** The members of workers and ports that `serve` uses. */
type Scope = Pick<EventTarget, 'addEventListener' | 'removeEventListener'> & {
  start?(): void;
  [SERVED]?: WorkerService | undefined;
};

interface TableLike {
  readonly place?: {
    readonly spec?: { readonly kept?: { readonly isPlain: boolean }; readonly version: number };
  };
}

/** Finds the tables of a store, and whether their rows are plain JSON. */
function tablesOf(db: Store): TableForms {
  const forms = new Map<string, boolean>();
  for (const [name, one] of Object.entries(db)) {
    const spec = (Object(one) as TableLike).place?.spec;
    if (spec?.kept !== undefined) forms.set(name, spec.kept.isPlain && spec.version === 1);
  }
  return forms;
}

/** The store that all pages share, and the lock that shows them that this worker lives. */
class Host implements ConnectionHost {
  readonly silentMs: number;
  readonly tablesOf = tablesOf;
  readonly #open: () => Promise<Store>;
  #opening: Promise<Store> | undefined;
  #life: ReturnType<typeof holdLife> | undefined;
  #isClosed = false;

  constructor(open: () => Promise<Store>, silentMs: number) {
    this.#open = open;
    this.silentMs = silentMs;
  }

  #openOnce(): Promise<Store> {
    this.#opening ??= this.#begin();
    return this.#opening;
  }

  async #begin(): Promise<Store> {
    try {
      return await this.#open();
    } catch (cause) {
      // The next page tries again.
      this.#opening = undefined;
      throw cause;
    }
  }

  async store(): Promise<Store> {
    if (this.#isClosed) throw new HedgerowError('closed', 'the worker answers no pages any more');
    const db = await this.#openOnce();
    try {
      db.snapshot().close();
    } catch (cause) {
      if (kindOfError(cause) !== 'closed') return db;
      // Others have deleted or closed the store: it is opened again for a new page.
      this.#opening = undefined;
      return this.#openOnce();
    }
    return db;
  }

  async life(): Promise<string | undefined> {
    this.#life ??= holdLife();
    return (await this.#life)?.name;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    (await this.#life)?.end();
    const close = (db: Store) => db.close();
    await this.#opening?.then(close, () => {});
  }
}

/** Answers a page over a port, until the connection ends. */
function servePort(
  port: MessagePort,
  shared: ConnectionHost,
  connections: Set<PageConnection>,
  first?: unknown,
): Promise<void> {
  return new Promise((resolve) => {
    const take = ({ data }: MessageEvent) => connection.receive(data);
    const over = () => connection.end();
    const connection = new PageConnection(port, shared, () => {
      connections.delete(connection);
      port.removeEventListener('message', take);
      port.removeEventListener('close', over);
      port.close();
      resolve();
    });
    connections.add(connection);
    port.addEventListener('message', take);
    port.addEventListener('close', over);
    port.start();
    if (first !== undefined) connection.receive(first);
  });
}

/**
 * Answers pages that call `connect` with a dedicated worker, a SharedWorker, a service worker, or a port. Call it at
 * the start of the worker, before any `await`: earlier messages of pages are lost. A worker has one store: a second
 * call returns the service of the first.
 */
export function serve(options: ServeOptions): WorkerService {
  const { open, port, silentMs = SILENT_MS } = optionsOf('serve', options, SERVE_OPTIONS);
  checkMs('serve', 'silentMs', silentMs);
  if (typeof open !== 'function') {
    const message = "serve: open is a function, such as () => open('app', { tables })";
    throw new HedgerowError('invalid-argument', message);
  }
  const scope = (port ?? globalThis) as unknown as Scope;
  checkHas('serve', scope, 'addEventListener', 'a port, or is called in a worker');
  const earlier = scope[SERVED];
  if (earlier !== undefined) return earlier;
  const host = new Host(open, silentMs);
  const connections = new Set<PageConnection>();

  const hear = (event: Event) => {
    const { data, ports = [] } = event as MessageEvent;
    const [to] = ports;
    if (to === undefined || Object(data)[CONNECT] !== true) return;
    const over = servePort(to, host, connections);
    // Otherwise browsers stop a service worker sooner.
    (event as { waitUntil?(until: Promise<void>): void }).waitUntil?.(over);
  };
  const meet = (event: Event) => {
    const [from] = (event as MessageEvent).ports;
    from?.addEventListener('message', hear);
    from?.start();
  };
  scope.addEventListener('message', hear);
  scope.addEventListener('connect', meet);
  if (port !== undefined) answerAlone(port, host, connections);
  scope.start?.();

  const served: WorkerService = {
    get connections() {
      return connections.size;
    },
    async close() {
      scope[SERVED] = undefined;
      scope.removeEventListener('message', hear);
      scope.removeEventListener('connect', meet);
      for (const one of [...connections]) one.end('the worker answers no pages any more');
      await host.close();
    },
  };
  scope[SERVED] = served;
  return served;
}

/** Answers the one page at the other end of a port. */
function answerAlone(port: MessagePort, host: Host, connections: Set<PageConnection>): void {
  const first = ({ data }: MessageEvent) => {
    if (Object(data)[0]?.[0] !== HELLO) return;
    port.removeEventListener('message', first);
    void servePort(port, host, connections, data);
  };
  port.addEventListener('message', first);
}
