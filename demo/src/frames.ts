/** The time between two frames. */
export interface Gap {
  /** When it ended, in milliseconds since the recording began. */
  readonly endMs: number;
  readonly ms: number;
}

/** What a frame lasts on a display of 60 Hz. */
export const FRAME_MS = 1000 / 60;

/** The page stood still. A slice so long is to blame for that. */
export const BAD_MS = 50;

/** How a gap is shown: a frame or more were left out, or the page stood still for what is blamed for it. */
export type GapKind = 'good' | 'late' | 'bad';

export function kindOf(ms: number, isBlamed: boolean): GapKind {
  if (ms < 1.5 * FRAME_MS) return 'good';
  return ms >= BAD_MS && isBlamed ? 'bad' : 'late';
}

/**
 * Records the gaps between animation frames. A gap is the time between two calls by the
 * clock, not between the timestamps that the browser hands to them: those are the frame's
 * own time, which may lie well before a call that had to wait for a busy thread.
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
      // A hidden page has no frames, which says nothing of how busy it is.
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

  /** Ends after the next frame, so that a gap which is still open counts. */
  async stop(): Promise<void> {
    await nextFrame();
    await nextFrame();
    cancelAnimationFrame(this.#request);
    document.removeEventListener('visibilitychange', this.#forgetHidden);
  }

  /** The gaps that end after `fromMs` and begin before `toMs`. */
  between(fromMs: number, toMs: number): readonly Gap[] {
    return this.gaps.filter(({ endMs, ms }) => endMs >= fromMs && endMs - ms <= toMs);
  }

  /** The longest of these. */
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
