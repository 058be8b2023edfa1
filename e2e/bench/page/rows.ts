/** Makes the rows that all contestants store: the same in every run. */
import { random } from './random.js';

export interface Row {
  readonly id: string;
  readonly title: string;
  readonly status: string;
  readonly owner: string;
  readonly modified: number;
  /** Only in wide rows. */
  readonly body?: string;
}

const WORDS =
  'the page hangs while large tables load after an upgrade and scrolling feels slow when sync is on but offline edits are kept only until reload'.split(
    ' ',
  );
const STATES = ['open', 'closed', 'in progress', 'blocked'];
const OWNERS = ['ann', 'bertrand', 'chioma', 'dmitri', 'eleonora', 'farid', 'grace', 'hiroshi'];

/** Returns the key of row `at`. */
export function idOf(at: number): string {
  return `issue/${String(at).padStart(8, '0')}`;
}

/** The additional JSON bytes of a wide row. */
const BODY_BYTES = 870;

type Width = 'narrow' | 'wide';

/** Yields `count` rows in the order of their keys, each made on demand. */
export function* rowsInTurn(count: number, width: Width = 'narrow'): Generator<Row, void, void> {
  const next = random(1);
  const pick = (from: readonly string[]) => from[Math.floor(next() * from.length)] ?? '';
  for (let at = 0; at < count; at++) {
    yield {
      id: idOf(at),
      title: Array.from({ length: 8 + Math.floor(next() * 5) }, () => pick(WORDS)).join(' '),
      status: pick(STATES),
      owner: pick(OWNERS),
      modified: 1_700_000_000_000 + Math.floor(next() * 1e10),
      ...(width === 'wide' ? { body: makeBody(pick) } : {}),
    };
  }
}

/** Makes the same rows all at once, as `JSON.parse` makes them of a response. */
export function makeRows(count: number, width: Width = 'narrow'): Row[] {
  // Concatenated strings would be ropes, whose cost the first reader pays.
  return JSON.parse(JSON.stringify([...rowsInTurn(count, width)])) as Row[];
}

function makeBody(pick: (from: readonly string[]) => string): string {
  let body = '';
  while (body.length < BODY_BYTES) body += `${pick(WORDS)} `;
  return body.slice(0, BODY_BYTES);
}

/** Returns the rows in random order. */
export function shuffled<Row>(rows: readonly Row[]): Row[] {
  const next = random(2);
  const all = [...rows];
  for (let at = all.length - 1; at > 0; at--) {
    const other = Math.floor(next() * (at + 1));
    [all[at], all[other]] = [all[other] as Row, all[at] as Row];
  }
  return all;
}

/** Changes every `step`th row. */
export function changedRows(rows: readonly Row[], step: number): Row[] {
  return rows
    .filter((_, at) => at % step === 0)
    .map((row) => ({ ...row, status: 'merged', modified: row.modified + step }));
}

/** Picks `count` rows at random, and changes each in another way. */
export function randomlyChanged(rows: readonly Row[], count: number, seed: number): Row[] {
  const next = random(seed);
  return Array.from({ length: count }, (_, at) => {
    const row = rows[Math.floor(next() * rows.length)] as Row;
    return { ...row, modified: row.modified + seed * 100_000 + at };
  });
}

/** Picks `count` keys of stored rows at random. */
export function randomIds(count: number, rows: number, seed: number): string[] {
  const next = random(seed);
  return Array.from({ length: count }, () => idOf(Math.floor(next() * rows)));
}
