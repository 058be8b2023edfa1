import { byId, setText } from './elements.js';
import * as format from './format.js';
import { FramePlot } from './frame-plot.js';
import { BAD_MS, FrameRecorder } from './frames.js';

/** The result of a recording. */
interface Recorded<T> {
  readonly value: T;
  readonly worstGapMs: number;
}

/** The plot of frames for the page's own work, with its verdict in words. */
export class FramesView {
  readonly #recorder = new FrameRecorder();
  readonly #plot = new FramePlot(byId<HTMLCanvasElement>('frames'), this.#recorder);
  /** Work for every frame, before the plot is drawn. */
  onFrame: (() => void) | undefined;

  /** The longest gap so far, or of the last recording, in milliseconds. */
  get worstGapMs(): number {
    return this.#recorder.worst()?.ms ?? 0;
  }

  /** Records while `work` runs. `sliceOf` returns the longest slice of its result, where slices are counted. */
  async during<T>(
    label: string,
    work: () => Promise<T>,
    sliceOf?: (value: T) => number,
  ): Promise<Recorded<T>> {
    setText('frames-verdict', '');
    this.#plot.sliceMs = undefined;
    this.#plot.isBlamed = false;
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
    }
    const { worstGapMs } = this;
    this.#show(label, worstGapMs, sliceOf?.(value));
    return { value, worstGapMs };
  }

  /** Says who made the longest gap: Hedgerow works for one slice, and then lets frames through. */
  #show(label: string, worstGapMs: number, sliceMs: number | undefined): void {
    const isBlamed = sliceMs !== undefined && sliceMs >= BAD_MS;
    this.#plot.sliceMs = sliceMs;
    this.#plot.isBlamed = isBlamed;
    this.#plot.draw(this.#recorder.gaps.at(-1)?.endMs ?? 0, false);
    const frames = format.plural(this.#recorder.gaps.length, 'frame');
    const verdict = `${frames}, ${gapWords(worstGapMs, sliceMs)}`;
    setText('frames-verdict', verdict);
    byId('frames-verdict').classList.toggle('bad', isBlamed);
    this.#plot.describe(`Time between frames while this ran: ${label}. ${verdict}`);
  }
}

/** Describes a gap, and Hedgerow's share in it. */
function gapWords(gapMs: number, sliceMs: number | undefined): string {
  const gap = `longest gap ${format.duration(gapMs)}`;
  if (sliceMs === undefined) return gap;
  const rest = gapMs >= BAD_MS && sliceMs < BAD_MS ? '; the rest is the page and this machine' : '';
  return `${gap}; Hedgerow's longest slice in it: at most ${format.duration(sliceMs)}${rest}`;
}
