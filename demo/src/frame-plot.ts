import { Bee } from './bee.js';
import { colour, make, onColourScheme, prefersStillness } from './elements.js';
import { fitCanvas } from './fitted-canvas.js';
import { FRAME_MS, type FrameRecorder, type Gap, kindOf } from './frames.js';

const BEE_SPACE = 46;
const AXIS_SPACE = 22;
const FIRST_SPAN_MS = 2400;
const LOWEST_TOP_MS = 42;

/** The time between two drawings of a growing plot; the bee moves in every frame. */
const DRAW_MS = 64;

/** A time to mark, with the name of the work that began then. */
export interface Mark {
  readonly atMs: number;
  readonly label: string;
}

/**
 * Draws gaps between frames as a hedge: each gap is a bar as wide and as high as it is long. A bee flies above it. The
 * page's own thread moves the bee once a frame, and it leaves a dot each time: when the thread is held up, the bee
 * stops, and its trail has a hole.
 */
export class FramePlot {
  readonly #canvas: HTMLCanvasElement;
  readonly #context: CanvasRenderingContext2D;
  readonly #recorder: FrameRecorder;
  marks: Mark[] = [];
  /** The longest slice of the work; its line is drawn when it is known. */
  sliceMs: number | undefined;
  /** Whether the work has made the long gaps: only then they are red. */
  isBlamed = true;
  readonly #bee = new Bee();
  #nowMs = 0;
  #drawnMs = 0;
  #width = 0;
  #height = 0;
  #spanMs = FIRST_SPAN_MS;
  #topMs = LOWEST_TOP_MS;

  constructor(canvas: HTMLCanvasElement, recorder: FrameRecorder) {
    this.#canvas = canvas;
    this.#context = canvas.getContext('2d') as CanvasRenderingContext2D;
    this.#recorder = recorder;
    const flight = make('div', { class: 'flight' });
    canvas.replaceWith(flight);
    flight.append(canvas, this.#bee.canvas);
    // Measured when it changes: measuring in each frame would force a layout.
    fitCanvas(canvas, this.#context, (width, height) => {
      [this.#width, this.#height] = [width, height];
      this.draw(this.#nowMs, false);
    });
    onColourScheme(() => this.draw(this.#nowMs, false));
  }

  /**
   * Moves the bee; the owner calls it in every frame while work runs. Draws the plot now and then: drawing may cost
   * more than a slice where the browser paints by itself.
   */
  run(nowMs: number): void {
    const isNew = nowMs < this.#drawnMs;
    if (isNew || nowMs - this.#drawnMs >= DRAW_MS) this.draw(nowMs, true);
    if (prefersStillness()) return;
    const left = Math.min(this.#x(nowMs), this.#width - 8);
    this.#bee.fly(left, flightHeight(nowMs), nowMs);
  }

  /** Draws all gaps until `nowMs`. */
  draw(nowMs: number, isRunning: boolean): void {
    this.#nowMs = nowMs;
    this.#drawnMs = nowMs;
    if (!isRunning) this.#bee.hide();
    const context = this.#context;
    context.clearRect(0, 0, this.#width, this.#height);
    if (this.#width === 0) return;
    const worst = this.#recorder.worst();
    // In steps, so that the picture holds still between them.
    this.#spanMs = FIRST_SPAN_MS;
    while (this.#spanMs < nowMs) this.#spanMs *= 1.5;
    if (!isRunning && nowMs > 0) this.#spanMs = nowMs;
    this.#topMs = LOWEST_TOP_MS;
    while (this.#topMs < Math.max(worst?.ms ?? 0, this.sliceMs ?? 0) * 1.12) this.#topMs *= 1.25;

    this.#drawMarks();
    this.#drawBars();
    this.#drawLine();
    if (worst !== undefined) this.#nameWorst(worst);
    if (!prefersStillness()) this.#drawTrail();
  }

  #x(ms: number): number {
    return (ms / this.#spanMs) * this.#width;
  }

  #y(ms: number): number {
    const floor = this.#height - AXIS_SPACE;
    return floor - (ms / this.#topMs) * (floor - BEE_SPACE);
  }

  #drawBars(): void {
    const context = this.#context;
    const colours = { good: colour('leaf'), late: colour('straw'), bad: colour('berry') };
    const floor = this.#y(0);
    for (const { endMs, ms } of this.#recorder.gaps) {
      const left = this.#x(endMs - ms);
      const width = Math.max(this.#x(endMs) - left - 1, 0.75);
      const top = this.#y(ms);
      context.fillStyle = colours[kindOf(ms, this.isBlamed)];
      context.beginPath();
      context.roundRect(left, top, width, floor - top, [
        Math.min(width / 2, 3),
        Math.min(width / 2, 3),
        0,
        0,
      ]);
      context.fill();
    }
  }

  #drawLine(): void {
    const context = this.#context;
    context.strokeStyle = colour('rule');
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(0, this.#y(0) + 0.5);
    context.lineTo(this.#width, this.#y(0) + 0.5);
    context.stroke();

    this.#drawLevel(FRAME_MS, 'ink');
    this.#label('16.7 ms', this.#width, this.#y(FRAME_MS) - 6, 'right', true);
    if (this.sliceMs !== undefined) {
      this.#drawLevel(this.sliceMs, 'berry');
      const text = `longest slice ${this.sliceMs.toFixed(1)} ms`;
      this.#label(text, 4, this.#y(this.sliceMs) - 6, 'left', true);
    }

    const floor = this.#y(0) + 15;
    this.#label('0 s', 0, floor, 'left');
    this.#label(`${(this.#spanMs / 1000).toFixed(1)} s`, this.#width, floor, 'right');
  }

  #drawLevel(ms: number, name: string): void {
    const context = this.#context;
    const y = Math.round(this.#y(ms)) + 0.5;
    context.strokeStyle = colour(name);
    context.setLineDash([2, 4]);
    context.beginPath();
    context.moveTo(0, y);
    context.lineTo(this.#width, y);
    context.stroke();
    context.setLineDash([]);
  }

  #drawMarks(): void {
    const context = this.#context;
    let free = 0;
    for (const [index, { atMs, label }] of this.marks.entries()) {
      const left = this.#x(atMs);
      if (index > 0) {
        context.fillStyle = colour('rule');
        context.fillRect(Math.round(left), 0, 1, this.#y(0));
      }
      // A short part's name reaches into the next part, whose name then comes after it.
      const from = Math.max(free, left + (index > 0 ? 8 : 0));
      this.#label(label, from, 12, 'left');
      free = from + context.measureText(label).width + 14;
    }
  }

  #nameWorst({ endMs, ms }: Gap): void {
    const y = this.#y(ms) - 6;
    const isLeft = this.#x(endMs) < this.#width / 2;
    const x = isLeft ? this.#x(endMs - ms) : this.#x(endMs);
    this.#label(`longest gap ${ms.toFixed(1)} ms`, x, y, isLeft ? 'left' : 'right', true);
  }

  /** Writes text, on its own ground where bars may lie behind it. */
  #label(text: string, x: number, y: number, align: 'left' | 'right', hasGround = false): void {
    const context = this.#context;
    context.font = '12px system-ui, sans-serif';
    context.textAlign = align;
    if (hasGround) {
      const width = context.measureText(text).width + 6;
      context.fillStyle = colour('card');
      context.globalAlpha = 0.82;
      context.fillRect(align === 'left' ? x - 3 : x - width + 3, y - 11, width, 15);
      context.globalAlpha = 1;
    }
    context.fillStyle = hasGround ? colour('ink') : colour('soft');
    context.fillText(text, x, y);
  }

  #drawTrail(): void {
    const context = this.#context;
    context.fillStyle = colour('soft');
    for (const { endMs } of this.#recorder.gaps) {
      context.fillRect(this.#x(endMs) - 0.75, flightHeight(endMs), 1.5, 1.5);
    }
  }

  /** Describes the plot to screen readers. */
  describe(text: string): void {
    this.#canvas.setAttribute('aria-label', text);
  }
}

/** Returns how far below the upper edge the bee is at a time. */
function flightHeight(ms: number): number {
  return 30 + 7 * Math.sin(ms / 210) + 4 * Math.sin(ms / 93);
}
