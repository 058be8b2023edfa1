/**
 * Measures how long a thread is held up: it posts messages to itself, and measures the wait of each. Between two slices
 * of Hedgerow a message comes through, so a long wait is a slice, or a task of other code.
 */

export interface Beat {
  /** When it ended, in milliseconds since the pulse began. */
  readonly endMs: number;
  /** The time that the thread was busy. */
  readonly ms: number;
}

/** Shorter ones are negligible work. */
const LEAST_MS = 1;
/** The pause between messages when the thread is idle, as browsers round it up. */
const REST_MS = 1;
const ROUNDED_REST_MS = 5;
/** The time between two reports of beats. */
const REPORT_MS = 100;

export class Pulse {
  readonly #onBeats: (beats: readonly Beat[], nowMs: number) => void;
  readonly #channel = new MessageChannel();
  #beats: Beat[] = [];
  #startMs = 0;
  #postedMs = 0;
  #reportedMs = 0;
  #isRunning = false;

  constructor(onBeats: (beats: readonly Beat[], nowMs: number) => void) {
    this.#onBeats = onBeats;
    this.#channel.port1.onmessage = () => this.#beat();
  }

  start(): void {
    if (this.#isRunning) return;
    this.#isRunning = true;
    this.#startMs = performance.now();
    this.#reportedMs = this.#startMs;
    this.#post();
  }

  stop(): void {
    this.#isRunning = false;
    this.#report();
  }

  #post(): void {
    this.#postedMs = performance.now();
    this.#channel.port2.postMessage(0);
  }

  #add(endMs: number, ms: number): boolean {
    if (ms < LEAST_MS) return false;
    this.#beats.push({ endMs: endMs - this.#startMs, ms });
    return true;
  }

  #beat(): void {
    if (!this.#isRunning) return;
    const now = performance.now();
    const wasBusy = this.#add(now, now - this.#postedMs);
    if (now - this.#reportedMs > REPORT_MS) this.#report();
    if (wasBusy) this.#post();
    else setTimeout(() => this.#wake(now), REST_MS);
  }

  /** A timer that comes late was held up, too. */
  #wake(sinceMs: number): void {
    if (!this.#isRunning) return;
    const now = performance.now();
    this.#add(now, now - sinceMs - ROUNDED_REST_MS);
    this.#post();
  }

  #report(): void {
    const now = performance.now();
    this.#reportedMs = now;
    this.#onBeats(this.#beats, now - this.#startMs);
    this.#beats = [];
  }
}
