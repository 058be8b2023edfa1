/**
 * Draws a race, as SVG. Plain JavaScript, since the page shows it and `headless.mjs` writes it to a file.
 *
 * All lanes have one scale of time and one of gaps: each bar is the time between two frames, as wide and as high as
 * that was long.
 *
 * @typedef {{ readonly endMs: number, readonly ms: number, readonly kind: 'good' | 'late' | 'bad' }} LaneGap
 *
 * A lane: its name in a sentence and its title, the requested puts or rows, the rows that the database had afterwards,
 * the time until they were stored, and the gaps between frames until then, whose ends count from the lane's start. Only
 * Hedgerow has a longest slice.
 * @typedef {{
 *   readonly name: string,
 *   readonly title: string,
 *   readonly requested: number,
 *   readonly rows: number,
 *   readonly ms: number,
 *   readonly worstGapMs: number,
 *   readonly gaps: readonly LaneGap[],
 *   readonly longestSliceMs?: number,
 * }} Lane
 * @typedef {{ readonly rows: number, readonly lanes: readonly Lane[] }} Race
 */

const WORDS = 42;
const BARS = 60;
const BETWEEN = 12;
const AXIS = 20;
const LANE = WORDS + BARS;
const LEAST_BAR = 2;
/** Narrower bars are drawn as one. */
const LEAST_WIDTH = 1.5;
/** Room for words: in the middle of the axis, and on a bar or behind the end of a lane. */
const CAPTION_WIDTH = 600;
const LABEL_WIDTH = 140;
const LABEL_HEIGHT = 22;
/** The space around a picture that stands alone. */
const MARGIN = 16;

const STYLE = `
    .race-drawing text { fill: #1f2b20; font-size: 14px } .race-drawing .soft { fill: #5d6a5b; font-size: 13px } .race-drawing .small { font-size: 12px }
    .race-drawing .bold { font-size: 16px; font-weight: 600 } .race-drawing .axis { stroke: #ddd9c9; stroke-width: 1.5 }
    .race-drawing .good { fill: #6f9f4f } .race-drawing .late { fill: #d09a26 } .race-drawing .bad { fill: #b1403a }
    .race-drawing text.bad { fill: #b1403a } .race-drawing text.on { fill: #fff; font-weight: 600 } .race-drawing .page { fill: #fbfaf5 } .race-drawing .done { stroke: #5d6a5b; stroke-width: 1.5; stroke-dasharray: 3 3 }
    @media (prefers-color-scheme: dark) {
      .race-drawing text { fill: #e6ebdc } .race-drawing .soft { fill: #a0ac98 } .race-drawing .axis { stroke: #2e392c }
      .race-drawing .good { fill: #7fb35b } .race-drawing .late { fill: #e0b04a } .race-drawing .bad { fill: #e0776c }
      .race-drawing text.bad { fill: #e0776c } .race-drawing text.on { fill: #1b211a } .race-drawing .page { fill: #1b211a } .race-drawing .done { stroke: #a0ac98 }
    }
  `;

/** @param {number} ms */
function time(ms) {
  if (ms >= 1000) return `${(ms / 1000).toFixed(2)} s`;
  return `${ms >= 100 ? ms.toFixed(0) : ms.toFixed(1)} ms`;
}

/** @param {number} value */
const count = (value) => value.toLocaleString('en');

/**
 * Writes the result of a lane in words, with its slices or without.
 *
 * @param {Lane} lane
 * @param {number} rows
 * @param {boolean} hasSlice
 */
function wordsOf(lane, rows, hasSlice) {
  const part = lane.rows < rows ? `${count(lane.rows)} of ${count(rows)}` : count(lane.rows);
  const slice =
    hasSlice && lane.longestSliceMs !== undefined
      ? `, longest slice ${time(lane.longestSliceMs)}`
      : '';
  return `${part} rows stored in ${time(lane.ms)}${slice}`;
}

/**
 * Joins adjacent gaps that are too narrow for their own bar: as long as all of them, as high as the longest.
 *
 * @param {readonly LaneGap[]} gaps
 * @param {number} leastMs
 */
function joinNarrow(gaps, leastMs) {
  /** @type {{ startMs: number, endMs: number, ms: number, kind: LaneGap['kind'] }[]} */
  const bars = [];
  for (const { endMs, ms, kind } of gaps) {
    const last = bars.at(-1);
    if (last === undefined || last.endMs - last.startMs >= leastMs || ms >= leastMs) {
      bars.push({ startMs: endMs - ms, endMs, ms, kind });
      continue;
    }
    last.endMs = endMs;
    if (ms > last.ms) {
      last.ms = ms;
      last.kind = kind;
    }
  }
  return bars;
}

/**
 * @param {Lane} lane
 * @param {number} top
 * @param {{ readonly rows: number, readonly width: number, readonly spanMs: number, readonly topMs: number, readonly isAlone: boolean }} frame
 */
function drawLane(lane, top, { rows, width, spanMs, topMs, isAlone }) {
  const floor = top + LANE;
  /** @param {number} ms */
  const x = (ms) => (width * Math.min(Math.max(ms, 0), spanMs)) / spanMs;
  const shown = joinNarrow(lane.gaps, (LEAST_WIDTH * spanMs) / width);
  const bars = shown.map(({ startMs, endMs, ms, kind }) => {
    const left = x(startMs);
    const right = x(endMs);
    const height = Math.max((BARS * ms) / topMs, LEAST_BAR);
    const box = `x="${left.toFixed(1)}" y="${(floor - height).toFixed(1)}" width="${Math.max(right - left - 0.7, 0.7).toFixed(1)}" height="${height.toFixed(1)}"`;
    return `  <rect ${box} rx="1.5" class="${kind}"/>`;
  });
  const isBad = lane.gaps.some(({ kind }) => kind === 'bad');
  const end = x(lane.ms).toFixed(1);
  const isNarrow = width < CAPTION_WIDTH;
  const label = isNarrow ? lane.title.split(':')[0] : lane.title;
  const gap = isAlone && !isNarrow ? 'longest gap between frames' : 'longest gap';
  const labels = [];
  const worst = lane.gaps.find(({ ms }) => ms === lane.worstGapMs);
  const worstHeight = (BARS * lane.worstGapMs) / topMs;
  const hasSpace = (width * lane.worstGapMs) / spanMs >= LABEL_WIDTH && worstHeight >= LABEL_HEIGHT;
  if (worst?.kind === 'bad' && hasSpace) {
    const middle = x(worst.endMs - worst.ms / 2).toFixed(1);
    labels.push(
      `  <text x="${middle}" y="${(floor - worstHeight / 2 + 5).toFixed(1)}" text-anchor="middle" class="on">frozen for ${time(worst.ms)}</text>`,
    );
  }
  if (width - x(lane.ms) >= LABEL_WIDTH) {
    labels.push(
      `  <text x="${(x(lane.ms) + 8).toFixed(1)}" y="${top + WORDS + 16}" class="soft">stored after ${time(lane.ms)}</text>`,
    );
  }
  return [
    `  <text x="0" y="${top + 16}" class="bold">${label}</text>`,
    `  <text x="${width}" y="${top + 16}" text-anchor="end" class="bold${isBad ? ' bad' : ''}">${gap} ${time(lane.worstGapMs)}</text>`,
    `  <text x="0" y="${top + 34}" class="soft">${wordsOf(lane, rows, !isNarrow && !isAlone)}</text>`,
    ...bars,
    `  <path d="M0 ${floor}H${width}" class="axis"/>`,
    `  <path d="M${end} ${top + WORDS}V${floor}" class="done"/>`,
    ...labels,
  ];
}

/**
 * Draws the picture, so many pixels wide. A picture that stands alone has its own ground, for pages of any colour.
 *
 * @param {Race} race
 * @param {number} width
 * @param {{ readonly isAlone?: boolean }} options
 */
export function racePicture({ rows, lanes }, width, { isAlone = false } = {}) {
  const ends = lanes.flatMap(({ ms, gaps }) => [ms, ...gaps.map((gap) => gap.endMs)]);
  const spanMs = Math.max(...ends, 1);
  const topMs = Math.max(...lanes.map(({ worstGapMs }) => worstGapMs), 1);
  const frame = { rows, width, spanMs, topMs, isAlone };
  const bottom = lanes.length * (LANE + BETWEEN) - BETWEEN;
  const height = bottom + AXIS;
  const margin = isAlone ? MARGIN : 0;
  const [outerWidth, outerHeight] = [width + 2 * margin, height + 2 * margin];
  const ground = `  <rect x="${-margin}" y="${-margin}" width="${outerWidth}" height="${outerHeight}" rx="10" class="page"/>`;
  const results = lanes.map(
    (lane) =>
      ` ${lane.title}: ${wordsOf(lane, rows, !isAlone)}, longest gap between two frames ${time(lane.worstGapMs)}.`,
  );
  const caption =
    width < CAPTION_WIDTH
      ? []
      : [
          `  <text x="${width / 2}" y="${bottom + 17}" text-anchor="middle" class="soft small">each bar is the time between two frames of the page; dashed line: all rows are stored</text>`,
        ];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${-margin} ${-margin} ${outerWidth} ${outerHeight}" width="${outerWidth}" height="${outerHeight}" font-family="system-ui, sans-serif" class="race-drawing" role="img">`,
    `  <title>${count(rows)} rows.${results.join('')}</title>`,
    `  <style>${STYLE}</style>`,
    ...(isAlone ? [ground] : []),
    ...lanes.flatMap((lane, index) => drawLane(lane, index * (LANE + BETWEEN), frame)),
    `  <text x="0" y="${bottom + 17}" class="soft small">0 s</text>`,
    ...caption,
    `  <text x="${width}" y="${bottom + 17}" text-anchor="end" class="soft small">${(spanMs / 1000).toFixed(1)} s</text>`,
    '</svg>',
    '',
  ].join('\n');
}
