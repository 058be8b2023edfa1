/** The page posts tasks to itself, and messages may be lost. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { poster } from '../../src/base/post-task.js';

const RealChannel = globalThis.MessageChannel;
let losesAll = false;
let channels = 0;

/** A channel that loses its messages while `losesAll`, as WebKit does when its network process ends. */
class LossyChannel {
  readonly port1: MessagePort;
  readonly port2: MessagePort;

  constructor() {
    channels += 1;
    const { port1, port2 } = new RealChannel();
    const send = port2.postMessage.bind(port2);
    port2.postMessage = (message: unknown) => {
      if (!losesAll) send(message);
    };
    this.port1 = port1;
    this.port2 = port2;
  }
}

function lossyPoster(run: () => void): () => void {
  losesAll = false;
  channels = 0;
  vi.stubGlobal('MessageChannel', LossyChannel);
  // Otherwise Node's own channel would be used.
  vi.stubGlobal('setImmediate', undefined);
  return poster(run);
}

afterEach(() => {
  vi.unstubAllGlobals();
});

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe('a task', () => {
  it('runs once although its message was lost', async () => {
    let runs = 0;
    const post = lossyPoster(() => {
      runs += 1;
    });
    post();
    await vi.waitUntil(() => runs === 1);
    losesAll = true;
    post();
    await pause(100);
    losesAll = false;
    expect(runs).toBe(1);
    await vi.waitUntil(() => runs === 2, 5000);
    post();
    await vi.waitUntil(() => runs === 3);
    await pause(2500);
    expect(runs).toBe(3);
    expect(channels).toBe(2);
  });

  it('does not run twice after a late message', async () => {
    let runs = 0;
    const post = lossyPoster(() => {
      runs += 1;
    });
    post();
    // Timer and message are both due at the end of this block.
    const endMs = performance.now() + 1500;
    while (performance.now() < endMs);
    await vi.waitUntil(() => runs > 0);
    await pause(500);
    expect(runs).toBe(1);
  });
});
