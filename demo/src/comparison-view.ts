import { barGroup } from './bars.js';
import type { CityStore } from './cities.js';
import { type Comparison, compare, type Manner } from './comparison.js';
import { announce, byId, setText } from './elements.js';
import { figures } from './figures.js';
import * as format from './format.js';
import { FramePlot } from './frame-plot.js';
import { FrameRecorder } from './frames.js';

const NAMES = { hedgerow: 'Hedgerow', indexedDb: 'One put per row' } as const;

/** The comparison's button, its progress and its bars. */
export class ComparisonView {
  readonly #recorder = new FrameRecorder();
  readonly #plot = new FramePlot(byId<HTMLCanvasElement>('comparison-frames'), this.#recorder);

  /** Compares with the rows that `store` holds. */
  async run(store: CityStore, manner: Manner): Promise<void> {
    byId('comparison').hidden = false;
    byId('bars').replaceChildren();
    setText('comparison-verdict', '');
    setText('comparison-stage', 'Reading the rows from the store…');
    announce('The comparison has begun');
    const rows = await store.cities.toArray();
    this.#plot.marks = [];
    this.#recorder.onFrame = (nowMs) => this.#plot.run(nowMs);
    this.#recorder.start();
    try {
      this.#show(
        await compare(rows, manner, this.#recorder, (part, count) =>
          this.#report(part, count, rows.length),
        ),
      );
    } finally {
      await this.#recorder.stop();
      const lastMs = this.#recorder.gaps.at(-1)?.endMs ?? 0;
      this.#plot.draw(lastMs, false);
    }
  }

  #report(part: 'hedgerow' | 'indexedDb' | 'deleting', count: number, total: number): void {
    if (part === 'deleting') {
      setText('comparison-stage', 'Deleting both databases…');
      return;
    }
    const label = NAMES[part];
    if (this.#plot.marks.at(-1)?.label !== label) {
      this.#plot.marks.push({ atMs: this.#recorder.nowMs, label });
    }
    setText('comparison-stage', `${label}: ${format.count(count)} of ${format.count(total)} rows`);
  }

  #show(comparison: Comparison): void {
    figures.comparison = comparison;
    const { rows, hedgerow, indexedDb } = comparison;
    const faster = format.ratio(indexedDb.ms / hedgerow.ms);
    setText('comparison-verdict', `${faster} faster`);
    setText('comparison-stage', `${format.count(rows)} rows each. Both databases were deleted.`);
    announce(`Hedgerow was ${faster} faster than one put per row`);
    byId('bars').replaceChildren(
      group('Time until all rows are stored', comparison, (side) => side.ms),
      group('Longest gap between two frames', comparison, (side) => side.worstGapMs),
    );
    this.#plot.describe(
      `Longest gap between frames: Hedgerow ${format.duration(hedgerow.worstGapMs)}, one put per row ${format.duration(indexedDb.worstGapMs)}`,
    );
  }
}

/** Two bars to one scale. */
function group(
  title: string,
  { hedgerow, indexedDb }: Comparison,
  measure: (side: Comparison['hedgerow']) => number,
): HTMLElement {
  const [ours, theirs] = [measure(hedgerow), measure(indexedDb)];
  const bar = (name: string, kind: 'ours' | 'theirs', ms: number) => ({
    name,
    kind,
    amount: ms,
    text: format.duration(ms),
  });
  return barGroup(title, `ratio ${format.ratio(theirs / ours)}`, [
    bar(NAMES.hedgerow, 'ours', ours),
    bar(NAMES.indexedDb, 'theirs', theirs),
  ]);
}
