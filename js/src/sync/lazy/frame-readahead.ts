/** What to fetch ahead of who reads the frames of an object one after the other: twice as many each time. */

/** Most frames that are fetched ahead. */
const MOST_AHEAD = 32;

export class FrameReadahead {
  /** The last frame that was wanted, and the last one that was asked for. */
  #last = -2;
  #asked = -1;
  #size = 1;

  /**
   * Frames from `from` to `to` are wanted, by their numbers. Returns which are to be fetched ahead: from the first up to, but
   * not including, the second. They are few requests: the next ones are asked for when half of them are behind.
   */
  next(from: number, to: number): [number, number] {
    const isNext = from <= this.#last + 1 && to > this.#last && from >= this.#last;
    if (!isNext) {
      if (from !== this.#last || to !== this.#last) [this.#size, this.#asked] = [1, to];
      this.#last = to;
      return [0, 0];
    }
    this.#last = to;
    this.#asked = Math.max(this.#asked, to);
    if (this.#asked - to > this.#size / 2) return [0, 0];
    this.#size = Math.min(2 * this.#size, MOST_AHEAD);
    const first = this.#asked + 1;
    this.#asked = to + this.#size;
    return [first, this.#asked + 1];
  }
}
