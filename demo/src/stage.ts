/** Shows the top of the page: the load or the opened store, in large figures. */
import type { Order } from './cities.js';
import { announce, byId, setText } from './elements.js';
import { type NamedFigure, showFigures } from './figure-list.js';
import * as format from './format.js';
import type { LoadProgress, LoadResult } from './load.js';

/** Text that changes more often than this is unreadable. */
const TEXT_MS = 80;

let textMs = 0;
let announced = 0;

function headline(title: string, value: string, unit: string, note: string): void {
  setText('stage-title', title);
  setText('headline', value);
  setText('headline-unit', unit);
  setText('stage-note', note);
}

/** Lets the hedge grow to a fraction of its width. */
function grow(fraction: number): void {
  // Moved, not widened, which saves painting it again.
  byId('hedge-grown').style.transform = `translateX(${100 * (fraction - 1)}%)`;
  byId('hedge').setAttribute('aria-valuenow', String(Math.floor(100 * fraction)));
}

/** Shows the figures of a load. Its slices come at its end. */
function showLoadFigures(load: {
  readonly rows: number;
  readonly bytes: string;
  readonly durableRows: number;
  readonly ms: number;
  readonly slices?: { readonly count: number; readonly longestMs: number };
  readonly worstGapMs: number;
}): void {
  const { rows, bytes, durableRows, ms, slices, worstGapMs } = load;
  const sliced: readonly NamedFigure[] = slices
    ? [
        ['Slices', format.count(slices.count)],
        ['Longest slice', format.duration(slices.longestMs)],
      ]
    : [];
  showFigures('stage-figures', [
    ['Rows per second', format.count(rows / (Math.max(ms, 1) / 1000))],
    ['NDJSON, unpacked', bytes],
    ['Durable rows', format.count(durableRows)],
    ['Longest frame gap', format.duration(worstGapMs)],
    ...sliced,
  ]);
}

/** Shows that a load begins. */
export function showLoadBegins(order: Order): void {
  textMs = 0;
  announced = 0;
  grow(0);
  const how = order === 'sorted' ? 'in key order' : 'shuffled';
  headline(
    'Loading',
    '0',
    'rows',
    `Bytes go from fetch into WebAssembly memory, rows ${how}: no row becomes a JavaScript object.`,
  );
  announce('Loading the cities');
}

/** Shows that a load goes on. */
export function showLoadProgress(progress: LoadProgress, worstGapMs: number): void {
  const { rows, totalRows, bytes, durableRows, ms } = progress;
  const fraction = Math.min(rows / totalRows, 1);
  const now = performance.now();
  if (now - textMs < TEXT_MS && fraction < 1) return;
  textMs = now;
  grow(fraction);
  setText('headline', format.count(rows));
  setText('headline-unit', `of ${format.count(totalRows)} rows`);
  showLoadFigures({ rows, bytes: format.size(bytes), durableRows, ms, worstGapMs });
  const quarter = Math.floor(4 * fraction);
  if (quarter > announced && quarter < 4) {
    announced = quarter;
    announce(`${25 * quarter} percent loaded`);
  }
}

/** Shows that a load has ended well. */
export function showLoaded({ result, ms }: LoadResult, order: Order, worstGapMs: number): void {
  grow(1);
  const { rows, stats } = result;
  const { bytes, slices, longestSliceMs } = stats;
  const title = order === 'sorted' ? 'Loaded and durable' : 'Loaded in shuffled order, and durable';
  headline(
    title,
    format.duration(ms),
    `for ${format.count(rows)} rows`,
    'From the request to the durable commit, while the map was drawn. Reload the page: the rows are still here.',
  );
  const durableRows = rows;
  const load = { rows, durableRows, ms, worstGapMs, bytes: format.size(bytes) };
  showLoadFigures({ ...load, slices: { count: slices, longestMs: longestSliceMs } });
  announce(`${format.count(rows)} rows loaded in ${format.duration(ms)}`);
}

/** The figures of opening a store that holds rows. */
export interface Opening {
  readonly rows: number;
  readonly openMs: number;
  readonly getMs: number;
  readonly key: string;
  readonly storedBytes: number;
  /** Of one scan of all rows; `undefined` while it runs. */
  readonly scan: { readonly ms: number; readonly worstGapMs: number } | undefined;
}

/** Shows a store that held rows already. */
export function showOpened({ rows, openMs, getMs, key, storedBytes, scan }: Opening): void {
  grow(1);
  headline(
    'Opened from storage',
    format.duration(openMs + getMs),
    'to open the store and get the first row',
    `${format.count(rows)} rows were already stored: no row was fetched. The first get was for ${key}.`,
  );
  const scanned: readonly NamedFigure[] = scan
    ? [
        ['Scan of all rows', format.duration(scan.ms)],
        ['Longest frame gap', format.duration(scan.worstGapMs)],
      ]
    : [];
  showFigures('stage-figures', [
    ['Open', format.duration(openMs)],
    ['First get', format.duration(getMs)],
    ['Rows', format.count(rows)],
    ['Stored, packed', format.size(storedBytes)],
    ...scanned,
  ]);
  if (scan === undefined) announce(`Opened from storage in ${format.duration(openMs + getMs)}`);
}

/** Shows that the race comes first. */
export function showWaiting(): void {
  grow(0);
  headline('Next', 'All cities', 'into an empty store', 'The load begins when the race has ended.');
}

/** Shows an empty stage. */
export function showNothing(): void {
  grow(0);
  headline('Nothing stored', '0', 'rows', '');
  showFigures('stage-figures', []);
}
