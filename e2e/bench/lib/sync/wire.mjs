// A wire between a page and a server of this machine: it delays each direction, and counts the traffic.

import { connect, createServer } from 'node:net';
import { performance } from 'node:perf_hooks';

/** `GET /path HTTP/1.1` at the start of a request. */
const REQUEST = /^([A-Z]+) (\S+) HTTP\/1/;
/** `HTTP/1.1 200` at the start of an answer. */
const ANSWER = /^HTTP\/1\.\d (\d{3})/;
const HEAD_BYTES = 512;

/**
 * Listens on its own port and passes data to `port` and back, `oneWayMs` later each way. The first byte of a connection
 * waits for one more round trip, like a TCP handshake. Its bandwidth is the machine's.
 */
export async function openWire(port, oneWayMs) {
  const counts = new Counts();
  const sockets = new Set();
  const server = createServer({ noDelay: true }, (near) => {
    counts.connections += 1;
    const far = connect({ port, host: '127.0.0.1', noDelay: true });
    const talk = counts.talk();
    const openMs = performance.now() + 2 * oneWayMs;
    carry(near, far, oneWayMs, openMs, (bytes) => talk.sent(bytes));
    carry(far, near, oneWayMs, openMs, (bytes) => talk.received(bytes));
    for (const one of [near, far]) {
      sockets.add(one);
      one.on('close', () => sockets.delete(one));
      one.on('error', () => {
        near.destroy();
        far.destroy();
      });
    }
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/`,
    counts,
    close: () => {
      for (const one of sockets) one.destroy();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Passes on what `from` sends, in order, `delayMs` later, and stops reading while `to` cannot take more. */
function carry(from, to, delayMs, openMs, count) {
  const line = [];
  let timer;
  const due = () => Math.max(performance.now(), openMs) + delayMs;
  const wait = () => {
    timer = setTimeout(pass, Math.max(0, line[0].atMs - performance.now()));
  };
  const pass = () => {
    timer = undefined;
    // Timers of Node are late by up to a millisecond, and early by a fraction of one at most.
    while (line.length > 0 && line[0].atMs <= performance.now() + 0.5) {
      const { bytes } = line.shift();
      if (to.destroyed) return;
      if (bytes === undefined) to.end();
      else if (!to.write(bytes)) from.pause();
    }
    if (line.length > 0) wait();
  };
  const put = (bytes) => {
    line.push({ bytes, atMs: due() });
    if (delayMs === 0) pass();
    else if (timer === undefined) wait();
  };
  to.on('drain', () => from.resume());
  from.on('data', (bytes) => {
    count(bytes);
    put(bytes);
  });
  from.on('end', () => put(undefined));
}

/** Counts traffic: HTTP/1.1 without pipelining, so that a request begins where an answer has ended. */
class Counts {
  connections = 0;
  #sentBytes = 0;
  #receivedBytes = 0;
  #requests = [];

  talk() {
    let request;
    let isAnswered = true;
    return {
      sent: (bytes) => {
        this.#sentBytes += bytes.length;
        const begun = isAnswered ? REQUEST.exec(startOf(bytes)) : null;
        if (begun === null) return;
        isAnswered = false;
        request = { method: begun[1], path: begun[2], status: 0 };
        this.#requests.push(request);
      },
      received: (bytes) => {
        this.#receivedBytes += bytes.length;
        if (isAnswered) return;
        isAnswered = true;
        request.status = Number(ANSWER.exec(startOf(bytes))?.[1]);
      },
    };
  }

  /** Returns the traffic since the last call. Counts preflights of CORS apart. */
  take() {
    const all = this.#requests;
    const taken = {
      connections: this.connections,
      requests: all.filter(({ method }) => method !== 'OPTIONS').length,
      preflights: all.filter(({ method }) => method === 'OPTIONS').length,
      statuses: all.map(({ method, status }) => `${method} ${status}`),
      sentBytes: this.#sentBytes,
      receivedBytes: this.#receivedBytes,
    };
    this.connections = 0;
    this.#sentBytes = 0;
    this.#receivedBytes = 0;
    this.#requests = [];
    return taken;
  }
}

const startOf = (bytes) => bytes.toString('latin1', 0, HEAD_BYTES);
