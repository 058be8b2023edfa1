/** Chooses frames to fetch ahead of a reader that takes one after the other: twice as many each time. */

/** The most frames that are fetched ahead. */
const MOST_AHEAD = 32;

export class FrameReadahead {
  /** The last wanted frame, and the last requested one. */
  #last = -2;
  #asked = -1;
  #size = 1;

  /**
   * Notes that frames from `from` to `to` are wanted. Returns the numbers of the frames to fetch ahead: the first, and
   * the one behind the last. These take few requests: the next one is due when half of them are behind.
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
