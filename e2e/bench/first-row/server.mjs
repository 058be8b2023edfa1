// Serves the pages over a network of a given speed: all answers share its bytes, and each request waits for its delay.
// Every origin is one contestant. The first part of a path is a version: under a new one, no browser has a copy.

import { createServer } from 'node:http';

/** Bytes that are sent at once: one answer must not hold up the others. */
const PART_BYTES = 1400;

/** Networks by their names: bytes per second, and milliseconds before each answer. */
export const NETWORKS = {
  fast: { bytesPerSecond: Number.POSITIVE_INFINITY, delayMs: 0 },
  // 1.6 Mbit/s and 150 ms, as WebPageTest has for a slow phone.
  slow: { bytesPerSecond: 200_000, delayMs: 150 },
};

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Serves files by the names of contestants. */
export class PageServer {
  network = NETWORKS.fast;
  /** Bytes that were sent since the last `takeBytes`. */
  #sent = 0;
  /** When the line is free again. */
  #freeMs = 0;
  #pages;
  #server;

  constructor(pages) {
    this.#pages = pages;
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch(() => response.destroy());
    });
  }

  async listen() {
    await new Promise((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return this.#server.address().port;
  }

  async close() {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  takeBytes() {
    const sent = this.#sent;
    this.#sent = 0;
    return sent;
  }

  async #answer(request, response) {
    const name = request.headers.host.split('.')[0];
    const path = new URL(request.url, 'http://page').pathname.replace(/^\/[^/]*/, '');
    const file = this.#pages.get(name)?.get(path);
    const { delayMs } = this.network;
    if (delayMs > 0) await pause(delayMs);
    const headers = {
      'Cross-Origin-Opener-Policy': 'same-origin',
      'Cross-Origin-Embedder-Policy': 'require-corp',
      'Cross-Origin-Resource-Policy': 'same-origin',
    };
    if (file === undefined) return response.writeHead(404, headers).end();
    response.writeHead(200, {
      ...headers,
      'Content-Type': file.type,
      'Content-Encoding': 'gzip',
      'Content-Length': file.body.length,
      'Cache-Control': path === '/index.html' ? 'no-cache' : 'max-age=31536000, immutable',
    });
    await this.#send(response, file.body);
  }

  /** Sends a body in parts, each when the line is free. */
  async #send(response, body) {
    const { bytesPerSecond } = this.network;
    this.#sent += body.length;
    if (bytesPerSecond === Number.POSITIVE_INFINITY) return response.end(body);
    for (let at = 0; at < body.length; at += PART_BYTES) {
      const part = body.subarray(at, at + PART_BYTES);
      const nowMs = performance.now();
      this.#freeMs = Math.max(this.#freeMs, nowMs) + (1000 * part.length) / bytesPerSecond;
      await pause(this.#freeMs - nowMs);
      response.write(part);
    }
    response.end();
  }
}
