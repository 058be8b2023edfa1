/** Connects a page to the worker that has its store. The page has no core: it only sends calls and takes in answers. */

import { anything, checkHas, type OptionsOf, optionsOf } from '../base/check-options.js';
import { disposable } from '../base/disposable.js';
import { HedgerowError } from '../base/errors.js';
import { isList, memberOf } from '../base/runtime-type-checks.js';
import { later } from '../base/timeout.js';
import type { Tables } from '../store/tables/types.js';
import { checkMs } from './check-timer-ms.js';
import { refuseArgument } from './page/argument-references.js';
import { numberOf } from './page/remote-handle-path.js';
import type { RemoteStore } from './page/remote-handle-types.js';
import { handleOf } from './page/remote-handles.js';
import { WorkerLink } from './page/worker-link.js';
import { CONNECT } from './protocol.js';

/** A target of `connect`: a worker that calls `serve`, or a port whose other end such a worker has. */
export type Connectable =
  | Pick<Worker, 'postMessage'>
  | Pick<SharedWorker, 'port'>
  | Pick<MessagePort, 'postMessage' | 'start' | 'close' | 'addEventListener'>;

const CONNECT_OPTIONS = {
  /** The names of tables that the worker must have. Give their types: `connect<typeof tables>(worker)`. */
  tables: anything<readonly string[]>(),
  /** Milliseconds after which the page gives up a worker that does not answer; 30,000 by default. */
  timeoutMs: anything<number>(),
};

/** Options of `connect`. */
export interface ConnectOptions extends OptionsOf<typeof CONNECT_OPTIONS> {}

const TIMEOUT_MS = 30_000;

/** The members of a target; some kinds lack the optional ones. */
interface Target extends EventTarget {
  readonly port?: MessagePort;
  postMessage(message: unknown, transfer?: Transferable[]): void;
  start?(): void;
  close?(): void;
}

/**
 * Connects to the worker that has the store and calls `serve`. Resolves once the store is
 * open. Rejects with the error of its opening, with `disconnected` when the worker does not answer or cannot be loaded,
 * and with `unsupported` when the worker is of another release.
 */
export async function connect<T extends Tables = Record<never, never>>(
  worker: Connectable,
  options: ConnectOptions = {},
): Promise<RemoteStore<T>> {
  const { tables: wanted = [], timeoutMs = TIMEOUT_MS } = optionsOf(
    'connect',
    options,
    CONNECT_OPTIONS,
  );
  checkMs('connect', 'timeoutMs', timeoutMs);
  const areNames = isList(wanted) && Array.isArray(wanted);
  if (!areNames || !wanted.every((name) => typeof name === 'string')) {
    refuseArgument('connect: tables is a list of names of tables');
  }
  const given = worker as Target;
  const target = (memberOf(given, 'port') as MessagePort | undefined) ?? given;
  checkHas(
    'connect',
    target,
    'postMessage',
    'a Worker, a SharedWorker, a ServiceWorker or a MessagePort',
  );
  const port = given.start === undefined ? openChannel(target) : (given as unknown as MessagePort);
  const take = ({ data }: MessageEvent) => link.receive(data);
  const over = () => link.lose('the worker has closed the connection');
  const loseOnError = () => link.lose('the worker cannot be loaded, or has thrown at its start');
  const link = new WorkerLink(
    port,
    () => {
      stopTimer();
      port.removeEventListener('message', take);
      port.removeEventListener('close', over);
      given.removeEventListener?.('error', loseOnError);
      port.close();
    },
    numberOf,
  );
  const stopTimer = later(() => link.lose('the worker does not answer'), timeoutMs);
  port.addEventListener('message', take);
  port.addEventListener('close', over);
  given.addEventListener?.('error', loseOnError);
  port.start();
  const [name, tables] = await link.begin();
  stopTimer();
  // Later errors of the worker leave the connection open.
  given.removeEventListener?.('error', loseOnError);
  const missing = wanted.filter((table) => !tables.includes(table));
  const close = async () =>
    link.fail(new HedgerowError('closed', `the connection to ${name} is closed`));
  if (missing.length > 0) {
    await close();
    const message = `the store of the worker has no table ${missing.join(', ')}: it has ${tables.join(', ') || 'none'}`;
    throw new HedgerowError('invalid-argument', message);
  }
  const db = handleOf({ link, kind: 'store', target: 0, path: [], tables });
  Object.defineProperties(db, { name: { value: name }, close: { value: close } });
  disposable(db, 'asyncDispose', close);
  return db as RemoteStore<T>;
}

/** Sends a worker one end of a channel; returns the other. */
function openChannel(worker: Target): MessagePort {
  const { port1, port2 } = new MessageChannel();
  worker.postMessage({ [CONNECT]: true }, [port2]);
  return port1;
}
