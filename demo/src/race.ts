/**
 * Runs the race: stores the same rows in several ways, one after the other. Each begins with one array in memory and an
 * empty database, and ends when the rows are stored.
 */
import { type City, fetchFile, rowsUrl } from './cities.js';
import { BAD_MS, type FrameRecorder, kindOf, nextFrame } from './frames.js';
import type { Lane, Race } from './race-picture.js';
import { type Course, HEDGEROW, type Way } from './race-ways.js';

/** For a visitor, who waits. */
export const SHORT: Course = { rows: 20_000, requestMs: 1_500 };

/** All rows, however long it takes. */
export const WHOLE: Course = {
  rows: Number.POSITIVE_INFINITY,
  requestMs: Number.POSITIVE_INFINITY,
};

/** The time that the bee flies before and after, so that a standstill is visible. */
const FLIGHT_MS = 250;

/** The machine may be busy for a while with leftovers of the lane before. */
const SETTLE_MS = 600;

/** A lane while it runs: its way, its frames, and the listeners to its rows and its end. */
export interface Runner {
  readonly way: Way;
  readonly recorder: FrameRecorder;
  readonly onRows: (rows: number) => void;
  readonly onEnd: (lane: Lane) => void;
}

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Loads cities from all over the world: the first rows of the shuffled file. */
export async function raceRows(course: Course): Promise<City[]> {
  const { body } = await fetchFile(rowsUrl('shuffled'));
  if (body === null) return [];
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const rows: City[] = [];
  let rest = '';
  while (rows.length < course.rows) {
    const { done, value } = await reader.read();
    if (done) break;
    const lines = (rest + decoder.decode(value, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines.slice(0, course.rows - rows.length)) rows.push(JSON.parse(line));
  }
  await reader.cancel();
  return rows;
}

/** Runs all lanes, and returns their results. The store of Hedgerow's lane stays afterwards. */
export async function race(
  rows: readonly City[],
  course: Course,
  runners: readonly Runner[],
): Promise<Race> {
  const ways = runners.map(({ way }) => way);
  // An earlier race has left them; its tab may have been closed.
  await clear(ways);
  const lanes: Lane[] = [];
  for (const runner of runners) {
    if (lanes.length > 0) await wait(SETTLE_MS);
    lanes.push(await laneOf(runner, rows, course));
  }
  await clear(ways.filter((way) => way !== HEDGEROW));
  return { rows: rows.length, lanes };
}

const clear = (ways: readonly Way[]) => Promise.all(ways.map((way) => way.clear()));

async function laneOf(
  { way, recorder, onRows, onEnd }: Runner,
  rows: readonly City[],
  course: Course,
): Promise<Lane> {
  const track = await way.open();
  try {
    const run = await recorded(recorder, () => track.store(rows, course, onRows));
    const lane = { name: way.name, title: way.title, rows: await track.count(), ...run };
    onEnd(lane);
    return lane;
  } finally {
    await track.close();
  }
}

/** Does the work, and returns its result with the gaps between frames until then. */
async function recorded<T extends { readonly longestSliceMs?: number }>(
  recorder: FrameRecorder,
  work: () => Promise<T>,
): Promise<T & Pick<Lane, 'ms' | 'worstGapMs' | 'gaps'>> {
  recorder.start();
  let [startMs, endMs] = [0, 0];
  let result: T;
  try {
    await wait(FLIGHT_MS);
    await nextFrame();
    startMs = recorder.nowMs;
    result = await work();
    endMs = recorder.nowMs;
    await wait(FLIGHT_MS);
  } finally {
    await recorder.stop();
  }
  const { longestSliceMs } = result;
  // Puts are one task of the page. Hedgerow's slices are known: the machine makes any longer gap.
  const isBlamed = longestSliceMs === undefined || longestSliceMs >= BAD_MS;
  return {
    ...result,
    ms: endMs - startMs,
    worstGapMs: recorder.worst(startMs, endMs)?.ms ?? 0,
    gaps: recorder.between(startMs, endMs).map(({ endMs: atMs, ms }) => {
      return { endMs: atMs - startMs, ms, kind: kindOf(ms, isBlamed) };
    }),
  };
}
