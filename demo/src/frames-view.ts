import { byId, setText } from './elements.js';
import * as format from './format.js';
import { FramePlot } from './frame-plot.js';
import { FrameRecorder } from './frames.js';

/** From here on a gap is no longer praised. */
const BAD_MS = 50;

/** The plot of frames for the page's own work, with what it comes to in words. */
export class FramesView {
  readonly #recorder = new FrameRecorder();
  readonly #plot = new FramePlot(byId<HTMLCanvasElement>('frames'), this.#recorder);
  /** Work to be done in every frame before the plot is drawn. */
  onFrame: (() => void) | undefined;

  /** The longest gap so far, or of what was recorded last, in milliseconds. */
  get worstGapMs(): number {
    return this.#recorder.worst()?.ms ?? 0;
  }

  /** Draws how long the longest slice was beside the frames it ran between. */
  showLongestSlice(ms: number): void {
    this.#plot.sliceMs = ms;
    this.#drawAll();
  }

  #drawAll(): void {
    this.#plot.draw(this.#recorder.gaps.at(-1)?.endMs ?? 0, false);
  }

  /** Records while `work` runs. Returns the longest gap in milliseconds, and the result. */
  async during<T>(
    label: string,
    work: () => Promise<T>,
  ): Promise<{ value: T; worstGapMs: number }> {
    setText('frames-verdict', '');
    this.#plot.sliceMs = undefined;
    this.#plot.marks = [{ atMs: 0, label }];
    this.#recorder.onFrame = (nowMs) => {
      this.onFrame?.();
      this.#plot.run(nowMs);
    };
    this.#recorder.start();
    let value: T;
    try {
      value = await work();
    } finally {
      await this.#recorder.stop();
      this.onFrame?.();
      this.#drawAll();
    }
    const { worstGapMs } = this;
    const frames = format.plural(this.#recorder.gaps.length, 'frame');
    const verdict = `${frames}, longest gap ${format.duration(worstGapMs)}`;
    setText('frames-verdict', verdict);
    byId('frames-verdict').classList.toggle('bad', worstGapMs >= BAD_MS);
    this.#plot.describe(`Time between frames while this ran: ${label}. ${verdict}`);
    return { value, worstGapMs };
  }
}
