import { DotReader } from './dots.js';
import { nextFrame } from './frames.js';
import type { WorldMap } from './world-map.js';

/** What reading dots may take of a frame. */
const FRAME_SHARE_MS = 2;

/**
 * Feeds the map while a load runs, from a copy of the bytes that the store gets. What is
 * done for it is done in frames, and stops when the frame's share of time is used up:
 * the map may lag behind the load, and never holds it or the page up.
 */
export class MapFeed {
  readonly #map: WorldMap;
  #reader: DotReader | undefined;
  #arriving: Promise<void> = Promise.resolve();

  constructor(map: WorldMap) {
    this.#map = map;
  }

  /** Follows a response to its end. Should that break, it is the store's to tell. */
  follow({ body }: Response): void {
    if (body === null) return;
    const reader = new DotReader((lat, lng) => this.#map.addDot(lat, lng));
    this.#reader = reader;
    this.#arriving = take(body, reader).catch(() => {});
  }

  /** To be called in every frame. */
  work(): void {
    this.#reader?.read(performance.now() + FRAME_SHARE_MS);
    this.#map.drawSoon();
  }

  /** Resolves when all that arrives is on the map. */
  async finish(): Promise<void> {
    await this.#arriving;
    while (this.#reader?.isDone === false) {
      await nextFrame();
      this.work();
    }
    this.#reader = undefined;
    this.#map.draw();
  }
}

async function take(body: ReadableStream<Uint8Array>, reader: DotReader): Promise<void> {
  const parts = body.getReader();
  for (;;) {
    const { done, value } = await parts.read();
    if (done) return;
    reader.add(value);
  }
}
