import { colour, onColourScheme } from './elements.js';
import { fitCanvas } from './fitted-canvas.js';
import type { WireCall } from './wire.js';

const SPAN_MS = 60_000;
const TICK_MS = 500;
/** The ends of the logarithmic scale, in bytes. */
const [LEAST, MOST] = [50, 200_000];
const AXIS = 16;
const BAR = 5;
/** Room for the names of the levels. */
const LEFT = 44;

/** The last minute of a wire: sent bytes go up, received bytes go down; a request without a body is a dot. */
export class WirePlot {
  readonly #context: CanvasRenderingContext2D;
  readonly #calls: () => readonly WireCall[];
  #width = 0;
  #height = 0;

  constructor(canvas: HTMLCanvasElement, calls: () => readonly WireCall[]) {
    this.#context = canvas.getContext('2d') as CanvasRenderingContext2D;
    this.#calls = calls;
    fitCanvas(canvas, this.#context, (width, height) => {
      [this.#width, this.#height] = [width, height];
      this.draw();
    });
    onColourScheme(() => this.draw());
    setInterval(() => document.hidden || this.draw(), TICK_MS);
  }

  draw(): void {
    const context = this.#context;
    const [width, nowMs] = [this.#width, performance.now()];
    context.clearRect(0, 0, width, this.#height);
    if (width === 0) return;
    const half = (this.#height - AXIS) / 2;
    const lengthOf = (bytes: number) => {
      const part = Math.log(Math.max(bytes, LEAST) / LEAST) / Math.log(MOST / LEAST);
      return bytes === 0 ? 0 : 3 + (half - 4) * Math.min(1, part);
    };
    context.strokeStyle = colour('rule');
    context.setLineDash([2, 4]);
    context.beginPath();
    for (const bytes of [1_000, 100_000]) {
      for (const side of [-1, 1]) {
        const y = Math.round(half + side * lengthOf(bytes)) + 0.5;
        context.moveTo(LEFT, y);
        context.lineTo(width, y);
      }
    }
    context.stroke();
    context.setLineDash([]);
    context.fillStyle = colour('rule');
    context.fillRect(LEFT, half - 0.5, width - LEFT, 1);
    for (const { atMs, sent, received, outcome } of this.#calls()) {
      const x = width - 8 - ((nowMs - atMs) / SPAN_MS) * (width - 8 - LEFT);
      if (x < LEFT) continue;
      context.fillStyle = colour(outcome === 'cut' || outcome === 'lost' ? 'berry' : 'moss');
      context.fillRect(x, half - lengthOf(sent), BAR, lengthOf(sent));
      context.fillStyle = colour(outcome === 'cut' ? 'berry' : 'straw');
      context.fillRect(x, half, BAR, lengthOf(received));
      if (sent + received > 0) continue;
      context.fillStyle = colour('soft');
      context.fillRect(x + 1, half - 1.5, 3, 3);
    }
    context.font = '11px system-ui, sans-serif';
    context.fillStyle = colour('soft');
    context.textAlign = 'left';
    context.fillText('1 kB', 0, half - lengthOf(1_000) + 4);
    context.fillText('100 kB', 0, half - lengthOf(100_000) + 4);
    context.fillText('a minute ago', LEFT, this.#height - 3);
    context.textAlign = 'right';
    context.fillText('now', width, this.#height - 3);
  }
}
