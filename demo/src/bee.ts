/** Draws a bee, about 20 pixels long, heading right. */

/** The side of the square around it: it flaps and turns. */
const SIZE = 36;

/** A bee on its own small canvas, so that moving it paints few pixels. */
export class Bee {
  readonly canvas = document.createElement('canvas');
  readonly #context = this.canvas.getContext('2d') as CanvasRenderingContext2D;

  constructor() {
    const { canvas } = this;
    const scale = Math.min(devicePixelRatio, 2);
    canvas.width = SIZE * scale;
    canvas.height = SIZE * scale;
    this.#context.scale(scale, scale);
    canvas.className = 'bee';
    canvas.ariaHidden = 'true';
    canvas.hidden = true;
  }

  /** Moves its middle to `x` and `y`. */
  fly(x: number, y: number, nowMs: number): void {
    this.canvas.hidden = false;
    this.canvas.style.transform = `translate(${x - SIZE / 2}px, ${y - SIZE / 2}px)`;
    this.#context.clearRect(0, 0, SIZE, SIZE);
    drawBee(this.#context, SIZE / 2, SIZE / 2, nowMs);
  }

  hide(): void {
    this.canvas.hidden = true;
  }
}

function drawBee(context: CanvasRenderingContext2D, x: number, y: number, nowMs: number): void {
  const ellipse = (cx: number, cy: number, rx: number, ry: number, turn: number, fill: string) => {
    context.fillStyle = fill;
    context.beginPath();
    context.ellipse(cx, cy, rx, ry, turn, 0, 2 * Math.PI);
    context.fill();
  };
  context.save();
  context.translate(x, y);
  context.rotate(0.18 * Math.sin(nowMs / 210));
  const beat = 0.5 * Math.sin(nowMs / 24);
  ellipse(-4, -7, 3.6, 6.5, -0.55 + beat, 'rgb(190 205 215 / 0.75)');
  ellipse(2, -7, 3.6, 6.5, 0.35 + beat, 'rgb(205 218 226 / 0.85)');
  ellipse(0, 0, 9, 5.8, 0, '#e0a526');
  context.save();
  context.clip();
  context.fillStyle = '#33291a';
  for (const stripe of [-6.5, -1.5, 3.5]) context.fillRect(stripe, -6, 2.6, 12);
  context.restore();
  ellipse(8, -0.5, 3.4, 3.4, 0, '#33291a');
  ellipse(9, -1.4, 0.8, 0.8, 0, '#fff');
  context.restore();
}
