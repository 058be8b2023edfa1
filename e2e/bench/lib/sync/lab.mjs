// Answers the requests of the suites of sync: servers, behind wires with a round trip of 80 ms and of 0 ms.

import { Worker } from 'node:worker_threads';
import { openWire } from './wire.mjs';

/** One way, in milliseconds. */
const FAR_MS = 40;

/** Starts the servers on the first request. */
export class SyncLab {
  #worker;
  #waiting = new Map();
  #asked = 0;
  #wires = [];
  #queue = Promise.resolve();

  /** Calls `name` of `servers.mjs`; if that starts a server, the addresses in the result lead through the wires. */
  call(name, ...args) {
    const result = this.#queue.then(() => this.#call(name, args));
    this.#queue = result.catch(() => {});
    return result;
  }

  async #call(name, args) {
    // All traffic of the page's last step has passed, except for closing its connections.
    if (name === 'counts') return this.#wires.map(({ counts }) => counts.take())[args[0]];
    const answer = await this.#ask(name, args);
    if (answer.remote === undefined) return answer;
    await this.#closeWires();
    this.#wires = [await openWire(answer.remote, FAR_MS), await openWire(answer.remote, 0)];
    const [far, near] = this.#wires.map(({ url }) => url);
    return { far, near };
  }

  #ask(name, args) {
    this.#worker ??= this.#start();
    const id = this.#asked++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#worker.postMessage({ id, name, args });
    });
  }

  #start() {
    const worker = new Worker(new URL('./servers.mjs', import.meta.url));
    worker.on('message', ({ id, result, error }) => {
      const { resolve, reject } = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (error === undefined) resolve(result);
      else reject(new Error(error));
    });
    worker.on('error', (error) => {
      for (const { reject } of this.#waiting.values()) reject(error);
      this.#waiting.clear();
    });
    return worker;
  }

  async #closeWires() {
    for (const wire of this.#wires) await wire.close();
    this.#wires = [];
  }

  async close() {
    await this.#closeWires();
    await this.#worker?.terminate();
  }
}
