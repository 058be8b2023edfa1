/** How slowly an answer may come. Only time in which a caller waits for it counts. */
import { MAX_STALL_MS } from '../../../base/limits.js';
import { offlineFault } from '../remote-faults.js';

export class TransferPace {
  readonly #ms: number;
  readonly #leastBytes: number;
  #waitedMs = 0;
  #bytes = 0;

  /** In each `ms` of waiting at least `leastBytes` must come. */
  constructor(ms: number, leastBytes: number) {
    this.#ms = ms;
    this.#leastBytes = leastBytes;
  }

  /** How long the next wait may be, in milliseconds. */
  get leftMs(): number {
    if (this.#bytes >= this.#leastBytes) return MAX_STALL_MS;
    return Math.min(MAX_STALL_MS, this.#ms - this.#waitedMs);
  }

  get isTooSlow(): boolean {
    return this.#waitedMs >= this.#ms && this.#bytes < this.#leastBytes;
  }

  /** Counts a wait, and its bytes. A frozen page counts as one that has waited for a silent server. */
  countWait(ms: number, bytes: number): void {
    this.#waitedMs += Math.min(ms, MAX_STALL_MS);
    this.#bytes += bytes;
    if (this.#waitedMs >= this.#ms && !this.isTooSlow) [this.#waitedMs, this.#bytes] = [0, 0];
  }

  check(): void {
    if (!this.isTooSlow) return;
    const rate =
      this.#leastBytes === Number.POSITIVE_INFINITY ? '' : `${this.#leastBytes} bytes of `;
    throw offlineFault(`it was too slow: ${rate}its answer must come within ${this.#ms / 1000} s`);
  }
}

/** Makes the pace of a head, which comes whole in this time: other tabs wait for the one that reads it. */
export const headPace = (): TransferPace =>
  new TransferPace(MAX_STALL_MS, Number.POSITIVE_INFINITY);

const OBJECT_MS = 60_000;

/** Makes the pace of other answers, which have any length: they come at 1 KiB a second or faster. */
export const objectPace = (): TransferPace =>
  new TransferPace(OBJECT_MS, (OBJECT_MS / 1000) * 1024);
