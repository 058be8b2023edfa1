/** Draws the demo's plot of frames, live while a load runs. */

import { recolour } from '../../demo/src/elements.js';
import { FramePlot } from '../../demo/src/frame-plot.js';
import { FRAME_MS, FrameRecorder } from '../../demo/src/frames.js';

export { recolour };

export class LivePlot {
  readonly #recorder = new FrameRecorder();
  readonly #plot: FramePlot;
  #isRunning = false;
  /** The time of the load's begin in the recording. */
  #loadMs = 0;

  constructor(place: HTMLElement, onGap: (longestMs: number) => void) {
    const canvas = document.createElement('canvas');
    canvas.setAttribute('role', 'img');
    place.replaceChildren(canvas);
    this.#plot = new FramePlot(canvas, this.#recorder);
    this.#plot.describe('Time between frames: nothing has run yet.');
    this.#recorder.onFrame = (nowMs) => {
      this.#plot.run(nowMs);
      onGap(this.#recorder.worst(this.#loadMs)?.ms ?? 0);
    };
  }

  start(label: string): void {
    this.#plot.marks = [{ atMs: 0, label }];
    this.#loadMs = 0;
    this.#recorder.start();
    this.#isRunning = true;
  }

  /** Counts gaps from here on: earlier long ones belong to the making of rows, and are not drawn. */
  load(): void {
    const { gaps, nowMs } = this.#recorder;
    this.#loadMs = nowMs;
    gaps.splice(0, gaps.length, ...gaps.filter(({ ms }) => ms < 1.5 * FRAME_MS));
    this.#plot.marks.push({ atMs: this.#loadMs, label: 'load' });
  }

  /** Keeps the drawing, and describes it in words. */
  async stop(words: () => string): Promise<void> {
    if (!this.#isRunning) return;
    this.#isRunning = false;
    await this.#recorder.stop();
    this.#plot.draw(this.#recorder.gaps.at(-1)?.endMs ?? 0, false);
    this.#plot.describe(words());
  }
}
