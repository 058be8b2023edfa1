/** Turns figures into bars to one scale, for each measured job. */

import { count, type Figures, NAMES, type Report, reckonedMs, time } from './report.js';

export interface Bar {
  readonly name: string;
  readonly isOurs: boolean;
  /** Percent of the longest bar; `undefined` where there is no figure. */
  readonly percent: number | undefined;
  readonly text: string;
  readonly note: string;
}

export interface BarGroup {
  readonly title: string;
  readonly note: string;
  readonly bars: readonly Bar[];
}

interface Measure {
  readonly title: string;
  readonly note: string;
  readonly of: (figures: Figures, report: Report) => number | undefined;
  readonly text: (value: number) => string;
  /** Returns a remark on a figure. */
  readonly about?: (figures: Figures, report: Report) => string;
}

const MEASURES: readonly Measure[] = [
  {
    title: 'Longest gap between two frames during the load',
    note: 'shorter is better: so long nothing on the page moved',
    of: ({ gapMs }) => gapMs,
    text: time,
  },
  {
    title: 'Load of all rows',
    note: 'shorter is better',
    of: (figures, report) => reckonedMs(report, figures) ?? figures.loadMs,
    text: time,
    about: (figures, report) =>
      reckonedMs(report, figures) === undefined
        ? ''
        : `reckoned: it was stopped after ${time(figures.loadMs ?? 0)}, with ${count(figures.rows)} rows`,
  },
  {
    title: 'Gets a second',
    note: 'longer is better: random keys, each awaited',
    of: ({ gets }) => gets,
    text: count,
  },
  {
    title: 'Scan of all rows',
    note: 'shorter is better: to an array of objects',
    of: ({ scanMs }) => scanMs,
    text: time,
  },
];

/** Explains why there is no figure. */
function absence({ failed, rows }: Figures, report: Report): string {
  if (failed !== undefined) return `failed: ${failed}`;
  return rows < report.rows ? 'not all rows were loaded' : 'not measured';
}

export function barGroups(report: Report): readonly BarGroup[] {
  return MEASURES.map(({ title, note, of, text, about }) => {
    const values = report.figures.map((figures) => of(figures, report));
    const longest = Math.max(...values.map((value) => value ?? 0), Number.MIN_VALUE);
    const bars = report.figures.map((figures, at) => {
      const value = values[at];
      return {
        name: NAMES[figures.id],
        isOurs: figures.id === 'hedgerow',
        percent: value === undefined ? undefined : (100 * value) / longest,
        text: value === undefined ? '–' : text(value),
        note: value === undefined ? absence(figures, report) : (about?.(figures, report) ?? ''),
      };
    });
    return { title, note, bars };
  });
}
