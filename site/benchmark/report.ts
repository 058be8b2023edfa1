/** The results of a run, as shown and shared: by a link that holds all of them, and as text. */

import type { Device } from '../lib/device.js';

export const NAMES = {
  hedgerow: 'Hedgerow, putMany',
  dexie: 'Dexie, one bulkPut',
  'dexie-batches': 'Dexie, bulkPut of 1,000',
  indexeddb: 'IndexedDB, one transaction',
  'indexeddb-each': 'IndexedDB, put by put',
} as const;

export type ContestantId = keyof typeof NAMES;

/** The figures of one contestant. */
export interface Figures {
  readonly id: ContestantId;
  /** Rows that were there after the load, as the database counted them. */
  readonly rows: number;
  /** The time of the load of these rows, with frames watched. */
  readonly loadMs?: number;
  /** The longest gap between two frames during the load. */
  readonly gapMs?: number;
  /** Gets a second, each awaited. */
  readonly gets?: number;
  /** The time of a scan of all rows. */
  readonly scanMs?: number;
  /** The reason for missing figures. */
  readonly failed?: string;
}

export interface Report {
  /** Rows that each was to load. */
  readonly rows: number;
  /** Such as `2026-11-26`. */
  readonly date: string;
  readonly versions: { readonly hedgerow: string; readonly dexie: string };
  readonly device: Device;
  readonly figures: readonly Figures[];
  /** The page was hidden for a while: hidden pages have no frames. */
  readonly wasHidden?: boolean;
}

const MAX_TEXT = 200;

const isText = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= MAX_TEXT;
const isAmount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0;
const isAbsentOr = (is: (value: unknown) => boolean, value: unknown) =>
  value === undefined || is(value);
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function isFigures(value: unknown): value is Figures {
  if (!isObject(value) || !isText(value.id) || !Object.hasOwn(NAMES, value.id)) return false;
  const { rows, loadMs, gapMs, gets, scanMs, failed } = value;
  const amounts = [loadMs, gapMs, gets, scanMs];
  return (
    Number.isSafeInteger(rows) &&
    isAmount(rows) &&
    amounts.every((amount) => isAbsentOr(isAmount, amount)) &&
    isAbsentOr(isText, failed) &&
    (failed !== undefined) === (loadMs === undefined)
  );
}

function isDevice(value: unknown): value is Device {
  return (
    isObject(value) &&
    isText(value.browser) &&
    isAbsentOr(isAmount, value.cores) &&
    isAbsentOr(isAmount, value.memory)
  );
}

function isReport(value: unknown): value is Report {
  if (!isObject(value)) return false;
  const { rows, date, versions, device, figures, wasHidden } = value;
  return (
    isAmount(rows) &&
    isText(date) &&
    /^\d{4}-\d\d-\d\d$/.test(date) &&
    isObject(versions) &&
    isText(versions.hedgerow) &&
    isText(versions.dexie) &&
    isDevice(device) &&
    Array.isArray(figures) &&
    figures.length > 0 &&
    figures.every(isFigures) &&
    new Set(figures.map(({ id }) => id)).size === figures.length &&
    isAbsentOr((hidden) => typeof hidden === 'boolean', wasHidden)
  );
}

/** Reads a link's report; `undefined` if it is no report: anybody can write a link. */
export function parseReport(text: string): Report | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isReport(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });

export const count = (value: number) => whole.format(value);

/** `8.4 ms`, `340 ms`, `1.24 s` */
export function time(ms: number): string {
  if (ms >= 1000) return `${(ms / 1000).toFixed(ms >= 9995 ? 1 : 2)} s`;
  return `${ms >= 100 ? whole.format(ms) : ms.toFixed(1)} ms`;
}

/** Extrapolates the load of all rows from the pace of the loaded ones; `undefined` if all were loaded. */
export function reckonedMs({ rows }: Report, figures: Figures): number | undefined {
  if (figures.loadMs === undefined || figures.rows === 0 || figures.rows >= rows) return undefined;
  return (figures.loadMs * rows) / figures.rows;
}

export function deviceText({ device, versions, date }: Report): string {
  const { browser, cores, memory } = device;
  return [
    browser,
    cores === undefined ? 'cores not told' : `${cores} ${cores === 1 ? 'core' : 'cores'}`,
    // Browsers round it, and report at most 8.
    memory === undefined ? 'memory not told' : `${memory}${memory >= 8 ? ' or more' : ''} GiB`,
    `hedgerow ${versions.hedgerow}`,
    `Dexie ${versions.dexie}`,
    date,
  ].join(' · ');
}

function lineOf(report: Report, figures: Figures): string[] {
  const { id, rows, loadMs, gapMs, gets, scanMs, failed } = figures;
  if (failed !== undefined) return [NAMES[id], `failed: ${failed}`];
  const reckoned = reckonedMs(report, figures);
  const load = time(loadMs ?? 0);
  return [
    NAMES[id],
    reckoned === undefined
      ? load
      : `${count(rows)} rows in ${load}; all: ${time(reckoned)}, reckoned`,
    gapMs === undefined ? '' : time(gapMs),
    gets === undefined ? '' : count(gets),
    scanMs === undefined ? '' : time(scanMs),
  ];
}

/** Writes the report as a table in Markdown, which reads as plain text, too. */
export function reportText(report: Report, link: string): string {
  const head = ['', 'load', 'longest gap between frames', 'gets a second', 'scan of all rows'];
  const lines = [head, ...report.figures.map((figures) => lineOf(report, figures))];
  const widths = head.map((_, at) => Math.max(...lines.map((line) => (line[at] ?? '').length), 3));
  const row = (line: readonly string[]) =>
    `| ${widths.map((width, at) => (line[at] ?? '').padEnd(width)).join(' | ')} |`;
  const rule = `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`;
  const [first = [], ...others] = lines;
  return [
    `Hedgerow's benchmark in the browser: ${count(report.rows)} rows`,
    deviceText(report),
    ...(report.wasHidden ? ['The page was hidden for a while: do not trust gaps.'] : []),
    '',
    row(first),
    rule,
    ...others.map(row),
    '',
    link,
  ].join('\n');
}
