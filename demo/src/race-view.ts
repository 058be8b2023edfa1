import type { CityStore } from './cities.js';
import { announce, byId, make, setText } from './elements.js';
import { showFigures } from './figure-list.js';
import { figures } from './figures.js';
import * as format from './format.js';
import { FramePlot } from './frame-plot.js';
import { FrameRecorder } from './frames.js';
import { type Runner, race, raceRows } from './race.js';
import { type Lane, type Race, racePicture } from './race-picture.js';
import { type Course, HEDGEROW, openHedgerow, WAYS, type Way } from './race-ways.js';

/** Text that changes more often than this is unreadable. */
const TEXT_MS = 80;

/** One lane: its code, its bee, and its figures while it runs. */
class LaneView implements Runner {
  readonly recorder = new FrameRecorder();
  readonly way: Way;
  readonly #figuresId: string;
  readonly #plot: FramePlot;
  #rows = 0;
  #textMs = 0;

  constructor(way: Way) {
    this.way = way;
    this.#figuresId = `race-${way.id}-figures`;
    const label = `Time between frames. ${way.title}`;
    const canvas = make('canvas', { class: 'frames', role: 'img', 'aria-label': label });
    const lane = make(
      'div',
      { class: 'lane' },
      make('h3', {}, way.title),
      make('p', { class: 'call' }, make('code', {}, way.code)),
      canvas,
      make('dl', { id: this.#figuresId, class: 'figures' }),
    );
    byId('race-lanes').append(lane);
    this.#plot = new FramePlot(canvas as HTMLCanvasElement, this.recorder);
    // Until its slices are known, a gap of Hedgerow's lane may be the machine's.
    this.#plot.isBlamed = way !== HEDGEROW;
    this.recorder.onFrame = (nowMs) => {
      this.#plot.run(nowMs);
      if (nowMs - this.#textMs >= TEXT_MS) this.#tell(nowMs);
    };
  }

  readonly onRows = (rows: number): void => {
    this.#rows = rows;
  };

  readonly onEnd = ({ rows, ms, worstGapMs }: Lane): void => {
    this.#plot.draw(this.recorder.gaps.at(-1)?.endMs ?? 0, false);
    this.#show(rows, ms, worstGapMs);
  };

  /** Shows an empty lane. */
  clear(): void {
    [this.#rows, this.#textMs] = [0, 0];
    this.recorder.gaps.length = 0;
    this.#plot.draw(0, false);
    this.#show(0, 0, 0);
  }

  #tell(nowMs: number): void {
    this.#textMs = nowMs;
    this.#show(this.#rows, nowMs, this.recorder.worst()?.ms ?? 0);
  }

  #show(rows: number, ms: number, gapMs: number): void {
    showFigures(this.#figuresId, [
      ['Rows stored', format.count(rows)],
      ['Seconds', (ms / 1000).toFixed(2)],
      ['Longest gap', `${format.count(gapMs)} ms`],
    ]);
  }
}

/** The card of the race: its lanes while they run, and then their picture. */
export class RaceView {
  readonly #lanes = WAYS.map((way) => new LaneView(way));
  readonly #picture = byId('race-picture');
  #width = 0;
  #result: Race | undefined;

  constructor() {
    new ResizeObserver(() => {
      if (this.#picture.clientWidth !== this.#width) this.#draw();
    }).observe(this.#picture);
  }

  /**
   * Runs the race. Returns the store with the rows of Hedgerow's lane; `onDeleted` is called when another tab deletes
   * it.
   */
  async run(course: Course, onDeleted: () => void): Promise<CityStore> {
    this.#result = undefined;
    this.#picture.replaceChildren();
    byId('race-lanes').hidden = false;
    byId('race-stage').hidden = false;
    for (const lane of this.#lanes) lane.clear();
    setText('race-verdict', 'Reading the rows…');
    announce('The race has begun');
    const rows = await raceRows(course);
    setText('race-verdict', 'One after the other');
    this.#show(await race(rows, course, this.#lanes));
    return openHedgerow(onDeleted);
  }

  #show(result: Race): void {
    figures.race = result;
    this.#result = result;
    const gaps = result.lanes.map(
      ({ name, worstGapMs }) => `${name} ${format.duration(worstGapMs).replace(' ', '\u00a0')}`,
    );
    const verdict = `longest gap: ${gaps.join(', ')}`;
    setText('race-verdict', verdict);
    announce(verdict);
    byId('race-lanes').hidden = true;
    this.#draw();
  }

  #draw(): void {
    this.#width = this.#picture.clientWidth;
    // The picture consists of numbers and of words of its own file.
    if (this.#result !== undefined && this.#width > 0) {
      this.#picture.innerHTML = racePicture(this.#result, this.#width);
    }
  }
}
