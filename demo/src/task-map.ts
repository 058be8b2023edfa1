import type { Task } from './device-messages.js';
import { colour, onColourScheme, prefersStillness } from './elements.js';
import { TASKS } from './tasks.js';

const FLASH_MS = 2200;
/** Side of a square with its gap, in a wide window and in a narrow one. */
const [CELL, NARROW_CELL, NARROW] = [7, 6, 400];
const COLOURS: Readonly<Record<string, string>> = {
  open: 'leaf-faint',
  doing: 'straw',
  done: 'moss',
};

/** All rows as squares, coloured by their status. Changes light up; rows that wait to be sent have a ring. */
export class TaskMap {
  readonly #canvas: HTMLCanvasElement;
  readonly #context: CanvasRenderingContext2D;
  readonly #rows = new Map<number, string>();
  readonly #flashes = new Map<number, number>();
  #waiting: ReadonlySet<number> = new Set();
  #shown: readonly number[] = [];
  #width = 0;
  #height = 0;
  #isDue = false;

  /** `onPick` gets the number of the clicked task. */
  constructor(canvas: HTMLCanvasElement, onPick: (number: number) => void) {
    this.#canvas = canvas;
    this.#context = canvas.getContext('2d') as CanvasRenderingContext2D;
    new ResizeObserver(([entry]) => {
      if (entry !== undefined) this.#resize(entry.contentRect.width);
    }).observe(canvas);
    onColourScheme(() => this.#draw());
    canvas.addEventListener('click', ({ offsetX, offsetY }) => {
      const number =
        1 + Math.floor(offsetY / this.#side) * this.#columns + Math.floor(offsetX / this.#cell);
      if (number <= TASKS) onPick(number);
    });
  }

  get #side(): number {
    return this.#width < NARROW ? NARROW_CELL : CELL;
  }

  get #columns(): number {
    return Math.max(1, Math.floor(this.#width / this.#side));
  }

  get #cell(): number {
    return this.#width / this.#columns;
  }

  #resize(width: number): void {
    if (width === this.#width || width === 0) return;
    this.#width = width;
    this.#height = Math.ceil(TASKS / this.#columns) * this.#side;
    const scale = Math.min(devicePixelRatio, 2);
    this.#canvas.style.height = `${this.#height}px`;
    this.#canvas.width = Math.round(width * scale);
    this.#canvas.height = Math.round(this.#height * scale);
    this.#context.setTransform(scale, 0, 0, scale, 0, 0);
    this.#draw();
  }

  /** Shows a row that is new or has changed; `undefined` if it is gone. */
  set(number: number, task: Task | undefined, isNews: boolean): void {
    if (task === undefined) this.#rows.delete(number);
    else this.#rows.set(number, task.status);
    if (isNews) this.#flashes.set(number, performance.now());
    this.#draw();
  }

  /** Marks rows that wait to be sent, and the rows in the list. */
  mark(waiting: ReadonlySet<number>, shown: readonly number[]): void {
    this.#waiting = waiting;
    this.#shown = shown;
    this.#draw();
  }

  /** Draws once, in the next frame. */
  #draw(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    requestAnimationFrame((nowMs) => {
      this.#isDue = false;
      this.#paint(nowMs);
      for (const [number, fromMs] of this.#flashes) {
        if (nowMs - fromMs > FLASH_MS) this.#flashes.delete(number);
      }
      if (this.#flashes.size > 0) this.#draw();
    });
  }

  #paint(nowMs: number): void {
    const context = this.#context;
    context.clearRect(0, 0, this.#width, this.#height);
    for (let number = 1; number <= TASKS; number++) {
      const status = this.#rows.get(number);
      context.fillStyle = colour(status === undefined ? 'rule' : (COLOURS[status] ?? 'soft'));
      context.globalAlpha = status === undefined ? 0.45 : 1;
      this.#square(number, 0);
    }
    context.globalAlpha = 1;
    context.strokeStyle = colour('ink');
    context.lineWidth = 1;
    for (const number of this.#shown) this.#ring(number, 0.5);
    context.strokeStyle = colour('berry');
    context.lineWidth = 2;
    for (const number of this.#waiting) this.#ring(number, 1.5);
    context.strokeStyle = colour('ink');
    for (const [number, fromMs] of this.#flashes) {
      const left = Math.max(0, 1 - (nowMs - fromMs) / FLASH_MS);
      context.globalAlpha = prefersStillness() ? 1 : left;
      this.#ring(number, prefersStillness() ? 3 : 2 + 7 * left);
      context.fillStyle = colour('ink');
      this.#square(number, 1);
    }
    context.globalAlpha = 1;
  }

  #place(number: number): readonly [x: number, y: number] {
    const index = number - 1;
    return [(index % this.#columns) * this.#cell, Math.floor(index / this.#columns) * this.#side];
  }

  #square(number: number, more: number): void {
    const [x, y] = this.#place(number);
    const side = this.#side - 2 + 2 * more;
    this.#context.fillRect(
      x + 1 - more,
      y + 1 - more,
      Math.min(this.#cell - 2, this.#side - 2) + 2 * more,
      side,
    );
  }

  #ring(number: number, more: number): void {
    const [x, y] = this.#place(number);
    const side = this.#side - 2 + 2 * more;
    this.#context.strokeRect(x + 1 - more, y + 1 - more, side, side);
  }
}
