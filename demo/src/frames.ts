/** The time between two frames. */
export interface Gap {
  /** When it ended, in milliseconds since the recording began. */
  readonly endMs: number;
  readonly ms: number;
}

/** The length of a frame on a display of 60 Hz. */
export const FRAME_MS = 1000 / 60;

/** The shortest gap that counts as a standstill. A slice this long is to blame for it. */
export const BAD_MS = 50;

/** The look of a gap: late for a frame or more left out, bad if the blamed work made the page stand still. */
export type GapKind = 'good' | 'late' | 'bad';

export function kindOf(ms: number, isBlamed: boolean): GapKind {
  if (ms < 1.5 * FRAME_MS) return 'good';
  return ms >= BAD_MS && isBlamed ? 'bad' : 'late';
}

/**
 * Records the gaps between animation frames. A gap is the time between two calls by the clock, not between the
 * timestamps that the browser passes: these are the frame's own time, which may be well before a call that waited for a
 * busy thread.
 */
export class FrameRecorder {
  readonly gaps: Gap[] = [];
  /** Called in every frame, after its gap was recorded. */
  onFrame: ((nowMs: number) => void) | undefined;
  #startMs = 0;
  #lastMs = 0;
  #request = 0;

  /** Begins again, with no gaps. */
  start(): void {
    cancelAnimationFrame(this.#request);
    this.gaps.length = 0;
    this.#startMs = performance.now();
    this.#lastMs = this.#startMs;
    const frame = () => {
      this.#request = requestAnimationFrame(frame);
      const now = performance.now();
      // A hidden page has no frames, which does not mean that it is busy.
      if (!document.hidden) this.gaps.push({ endMs: now - this.#startMs, ms: now - this.#lastMs });
      this.#lastMs = now;
      this.onFrame?.(now - this.#startMs);
    };
    document.addEventListener('visibilitychange', this.#forgetHidden);
    this.#request = requestAnimationFrame(frame);
  }

  readonly #forgetHidden = () => {
    this.#lastMs = performance.now();
  };

  /** Milliseconds since the recording began. */
  get nowMs(): number {
    return performance.now() - this.#startMs;
  }

  /** Ends after the next frame, so that the open gap counts. */
  async stop(): Promise<void> {
    await nextFrame();
    await nextFrame();
    cancelAnimationFrame(this.#request);
    document.removeEventListener('visibilitychange', this.#forgetHidden);
  }

  /** Returns the gaps that end after `fromMs` and begin before `toMs`. */
  between(fromMs: number, toMs: number): readonly Gap[] {
    return this.gaps.filter(({ endMs, ms }) => endMs >= fromMs && endMs - ms <= toMs);
  }

  /** Returns the longest of these. */
  worst(fromMs = 0, toMs = Number.POSITIVE_INFINITY): Gap | undefined {
    let worst: Gap | undefined;
    for (const gap of this.between(fromMs, toMs)) {
      if (worst === undefined || gap.ms > worst.ms) worst = gap;
    }
    return worst;
  }
}

/** Resolves in the next frame, or soon in a hidden page. */
export function nextFrame(): Promise<void> {
  return new Promise((resolve) => {
    if (document.hidden) setTimeout(resolve, 16);
    else requestAnimationFrame(() => resolve());
  });
}
