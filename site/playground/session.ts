/** One worker after the other: each program has its own, which ends with it. */

import type { FromWorker, Keeping, ToWorker } from './protocol.js';

export class Session {
  readonly #onMessage: (message: FromWorker) => void;
  #worker: Worker | undefined;

  constructor(onMessage: (message: FromWorker) => void) {
    this.#onMessage = onMessage;
  }

  #begin(): Worker {
    this.end();
    const worker = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' });
    worker.onmessage = ({ data }: MessageEvent<FromWorker>) => this.#onMessage(data);
    worker.onerror = ({ message }) => {
      const failure = { name: 'Error', message: message || 'the worker did not load' };
      this.#onMessage({ kind: 'failed', failure });
    };
    this.#worker = worker;
    return worker;
  }

  run(code: string, keeping: Keeping): void {
    this.#begin().postMessage({ kind: 'run', code, keeping } satisfies ToWorker);
  }

  /** Deletes the kept stores; ends a running program. */
  forget(): void {
    this.#begin().postMessage({ kind: 'forget' } satisfies ToWorker);
  }

  say(message: ToWorker): void {
    this.#worker?.postMessage(message);
  }

  /** Ends the worker, whatever it does. */
  end(): void {
    this.#worker?.terminate();
    this.#worker = undefined;
  }
}
