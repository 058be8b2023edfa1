import type { City } from './cities.js';
import { colour } from './elements.js';
import { place, type WorldMap } from './world-map.js';

/** The map of all cities, faint, with the matches on top. */
export class MatchMap {
  readonly #canvas: HTMLCanvasElement;
  readonly #world: WorldMap;
  #cities: readonly City[] = [];
  #chosen: City | undefined;

  constructor(canvas: HTMLCanvasElement, world: WorldMap) {
    canvas.width = world.canvas.width;
    canvas.height = world.canvas.height;
    this.#canvas = canvas;
    this.#world = world;
  }

  /** Shows matches, and rings one of them. */
  show(cities: readonly City[], chosen: City | undefined): void {
    this.#cities = cities;
    this.#chosen = chosen;
    this.draw();
  }

  draw(): void {
    const context = this.#canvas.getContext('2d') as CanvasRenderingContext2D;
    const { width, height } = this.#canvas;
    context.clearRect(0, 0, width, height);
    context.globalAlpha = 0.38;
    context.drawImage(this.#world.canvas, 0, 0);
    context.globalAlpha = this.#cities.length > 300 ? 0.7 : 1;
    context.fillStyle = colour('berry');
    const radius = this.#cities.length > 300 ? 4 : 7;
    for (const city of this.#cities) {
      const { x, y } = place(city.lat, city.lng);
      context.beginPath();
      context.arc(x * width, y * height, radius, 0, 2 * Math.PI);
      context.fill();
    }
    context.globalAlpha = 1;
    if (this.#chosen === undefined) return;
    const { x, y } = place(this.#chosen.lat, this.#chosen.lng);
    context.strokeStyle = colour('ink');
    context.lineWidth = 4;
    context.beginPath();
    context.arc(x * width, y * height, 17, 0, 2 * Math.PI);
    context.stroke();
  }
}
