/** The page posts tasks to itself, and messages may be lost. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { poster } from '../../src/base/post-task.js';

const RealChannel = globalThis.MessageChannel;
const realTimeout = setTimeout;
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

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout'] });
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** Lets all messages under way arrive. */
async function arrive(): Promise<void> {
  for (let turns = 0; turns < 20; turns++) await new Promise((resolve) => realTimeout(resolve, 0));
}

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await arrive();
}

describe('a task', () => {
  it('runs once although its message was lost', async () => {
    let runs = 0;
    const post = lossyPoster(() => {
      runs += 1;
    });
    post();
    await until(() => runs === 1);
    losesAll = true;
    post();
    await arrive();
    losesAll = false;
    expect(runs).toBe(1);
    // The first look of the timer sees the first task, and the second one sees that the second task has not come.
    vi.advanceTimersByTime(2000);
    await until(() => runs === 2);
    post();
    await until(() => runs === 3);
    vi.advanceTimersByTime(3000);
    await arrive();
    expect(runs).toBe(3);
    expect(channels).toBe(2);
  });

  it('does not run twice after a late message', async () => {
    let runs = 0;
    const post = lossyPoster(() => {
      runs += 1;
    });
    post();
    // The message is under way when the timer looks.
    vi.advanceTimersByTime(1000);
    await until(() => runs > 0);
    await arrive();
    expect(runs).toBe(1);
    expect(channels).toBe(2);
  });
});
