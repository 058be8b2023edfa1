import { colour, onColourScheme } from './elements.js';

const WIDTH = 1080;
/** Plate carrée, without the ice: from 80° N to 57° S. */
const NORTH = 80;
const SOUTH = -57;
const HEIGHT = Math.round((WIDTH * (NORTH - SOUTH)) / 360);

/** This many cities in a pixel have the strongest tone. */
const STRONGEST = 6;

/** The time between two drawings while cities arrive. */
const DRAW_MS = 64;

/** Returns a city's place on the map, as fractions of its width and height. */
export function place(lat: number, lng: number): { x: number; y: number } {
  return { x: (lng + 180) / 360, y: (NORTH - lat) / (NORTH - SOUTH) };
}

/** A map of the world without an outline: one pixel for each city, as its row arrives. */
export class WorldMap {
  readonly canvas: HTMLCanvasElement;
  readonly #context: CanvasRenderingContext2D;
  readonly #counts = new Uint8Array(WIDTH * HEIGHT);
  readonly #image: ImageData;
  readonly #pixels: Uint32Array;
  #tones = new Uint32Array(STRONGEST + 1);
  #isDirty = false;
  #dots = 0;
  #drawnMs = 0;
  /** Called when the canvas has other colours. */
  onRecolour: (() => void) | undefined;

  constructor(canvas: HTMLCanvasElement) {
    canvas.width = WIDTH;
    canvas.height = HEIGHT;
    this.canvas = canvas;
    this.#context = canvas.getContext('2d') as CanvasRenderingContext2D;
    this.#image = this.#context.createImageData(WIDTH, HEIGHT);
    this.#pixels = new Uint32Array(this.#image.data.buffer);
    this.#mixTones();
    onColourScheme(() => {
      this.#mixTones();
      for (const [at, count] of this.#counts.entries()) {
        this.#pixels[at] = this.#tones[count] ?? 0;
      }
      this.#isDirty = true;
      this.draw();
      this.onRecolour?.();
    });
  }

  /** Mixes tones from faint to strong, as pixels; the first is transparent. */
  #mixTones(): void {
    // The browser can read a colour: let it draw one, and look.
    const context = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
    if (context === null) return;
    this.#tones = Uint32Array.from({ length: STRONGEST + 1 }, (_, count) => {
      if (count === 0) return 0;
      context.clearRect(0, 0, 1, 1);
      context.fillStyle = colour('map');
      context.fillRect(0, 0, 1, 1);
      const [red = 0, green = 0, blue = 0] = context.getImageData(0, 0, 1, 1).data;
      const alpha = Math.round(255 * (0.34 + (0.66 * (count - 1)) / (STRONGEST - 1)));
      return ((alpha << 24) | (blue << 16) | (green << 8) | red) >>> 0;
    });
  }

  /** Adds a city; it is visible after the next drawing. */
  addDot(lat: number, lng: number): void {
    const { x, y } = place(lat, lng);
    const [column, row] = [Math.floor(x * WIDTH), Math.floor(y * HEIGHT)];
    this.#dots += 1;
    if (column < 0 || column >= WIDTH || row < 0 || row >= HEIGHT) return;
    const at = row * WIDTH + column;
    const count = Math.min((this.#counts[at] ?? 0) + 1, STRONGEST);
    this.#counts[at] = count;
    this.#pixels[at] = this.#tones[count] ?? 0;
    this.#isDirty = true;
  }

  /** The number of added cities. */
  get dots(): number {
    return this.#dots;
  }

  /**
   * Draws, unless it did so a moment ago: the browser copies and paints a changed canvas whole, which costs more than
   * the drawing.
   */
  drawSoon(): void {
    if (this.#isDirty && performance.now() - this.#drawnMs >= DRAW_MS) this.draw();
  }

  /** Puts the added cities on the canvas. */
  draw(): void {
    if (!this.#isDirty) return;
    this.#isDirty = false;
    this.#drawnMs = performance.now();
    this.#context.putImageData(this.#image, 0, 0);
  }

  /** Forgets all cities. */
  clear(): void {
    this.#counts.fill(0);
    this.#pixels.fill(0);
    this.#dots = 0;
    this.#isDirty = true;
    this.draw();
  }
}
