import { DotReader } from './dots.js';
import { nextFrame } from './frames.js';
import type { WorldMap } from './world-map.js';

/** The time that reading dots may take of a frame. */
const FRAME_SHARE_MS = 2;

/**
 * Feeds the map while a load runs, from a copy of the bytes that the store gets. It works in frames, and stops at the
 * end of its share of the frame: the map may lag behind the load, and never delays the load or the page.
 */
export class MapFeed {
  readonly #map: WorldMap;
  #reader: DotReader | undefined;
  #arriving: Promise<void> = Promise.resolve();

  constructor(map: WorldMap) {
    this.#map = map;
  }

  /** Follows a response to its end. If the response breaks, the store reports it. */
  follow({ body }: Response): void {
    if (body === null) return;
    const reader = new DotReader((lat, lng) => this.#map.addDot(lat, lng));
    this.#reader = reader;
    this.#arriving = take(body, reader).catch(() => {});
  }

  /** Reads dots; the owner calls it in every frame. */
  work(): void {
    this.#reader?.read(performance.now() + FRAME_SHARE_MS);
    this.#map.drawSoon();
  }

  /** Resolves when all arrived cities are on the map. */
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
