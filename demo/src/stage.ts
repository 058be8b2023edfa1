/** The top of the page: what is being loaded, or was opened, in large figures. */
import type { IngestResult } from 'hedgerow';
import type { Order } from './cities.js';
import { announce, byId, setText } from './elements.js';
import { showFigures } from './figure-list.js';
import * as format from './format.js';
import type { LoadProgress, LoadResult } from './load.js';

/** Text that changes more often than this cannot be read. */
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
  byId('hedge-grown').style.width = `${100 * fraction}%`;
  byId('hedge').setAttribute('aria-valuenow', String(Math.floor(100 * fraction)));
}

function rates(rows: number, bytes: number, ms: number) {
  const seconds = Math.max(ms, 1) / 1000;
  return [
    ['Rows a second', format.count(rows / seconds)],
    ['Read and parsed', `${(bytes / 1e6 / seconds).toFixed(1)} MB/s`],
  ] as const;
}

/** A load begins. */
export function showLoadBegins(order: Order): void {
  textMs = 0;
  announced = 0;
  grow(0);
  const how = order === 'sorted' ? 'in key order' : 'shuffled';
  headline(
    'Loading',
    '0',
    'rows',
    `Rows arrive ${how}, and are parsed, packed into nodes, hashed and stored.`,
  );
  announce('Loading the cities');
}

/** A load goes on. */
export function showLoadProgress(progress: LoadProgress): void {
  const { rows, totalRows, bytes, totalBytes, durableRows, ms } = progress;
  const fraction = Math.min(rows / totalRows, 1);
  const now = performance.now();
  if (now - textMs < TEXT_MS && fraction < 1) return;
  textMs = now;
  grow(fraction);
  setText('headline', format.count(rows));
  setText('headline-unit', `of ${format.count(totalRows)} rows`);
  showFigures('stage-figures', [
    ...rates(rows, bytes, ms),
    ['Received', `${(bytes / 1e6).toFixed(1)} of ${format.size(totalBytes)}`],
    ['Rows written', format.count(durableRows)],
    ['Time', `${(ms / 1000).toFixed(1)} s`],
  ]);
  const quarter = Math.floor(4 * fraction);
  if (quarter > announced && quarter < 4) {
    announced = quarter;
    announce(`${25 * quarter} percent loaded`);
  }
}

/** A load has ended well. */
export function showLoaded({ result, ms, bytes }: LoadResult, order: Order): void {
  grow(1);
  const { rows, segments, slices, longestSliceMs } = result satisfies IngestResult;
  const title =
    order === 'sorted' ? 'Loaded and durable' : 'Loaded from shuffled rows, and durable';
  headline(
    title,
    format.duration(ms),
    `for ${format.count(rows)} rows`,
    'From the request to the durable commit, parsing and map included. Reload the page: it is all still here.',
  );
  showFigures('stage-figures', [
    ...rates(rows, bytes, ms),
    ['Received', format.size(bytes)],
    ['Slices of work', format.count(slices)],
    ['Longest slice', format.duration(longestSliceMs)],
    ['Segments written', format.count(segments)],
  ]);
  announce(`${format.count(rows)} rows loaded in ${format.duration(ms)}`);
}

/** What it took to open a store that holds rows. */
export interface Opening {
  readonly rows: number;
  readonly openMs: number;
  readonly getMs: number;
  readonly key: string;
  readonly storedBytes: number;
  /** Of one scan of all rows; `undefined` while it runs. */
  readonly scanMs: number | undefined;
}

/** The store held rows already. */
export function showOpened({ rows, openMs, getMs, key, storedBytes, scanMs }: Opening): void {
  grow(1);
  headline(
    'Opened from storage',
    format.duration(openMs + getMs),
    'to open, and get the first row',
    `${format.count(rows)} rows were here already: no row was fetched. The first get was for ${key}.`,
  );
  showFigures('stage-figures', [
    ['Open', format.duration(openMs)],
    ['First get', format.duration(getMs)],
    ['Rows', format.count(rows)],
    ['Stored', format.size(storedBytes)],
    ['Scan of all rows', scanMs === undefined ? '…' : format.duration(scanMs)],
  ]);
  if (scanMs === undefined) announce(`Opened from storage in ${format.duration(openMs + getMs)}`);
}

/** Nothing is there to be shown. */
export function showNothing(): void {
  grow(0);
  headline('Nothing stored', '0', 'rows', '');
  showFigures('stage-figures', []);
}
