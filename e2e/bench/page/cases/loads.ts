/** Loads rows in random order, and rows of about 1 KiB. */
import type { Setting, Suite } from '../bench-case.js';
import { makeRows, type Row, shuffled } from '../rows.js';
import { everyone } from './contestants.js';
import { loadFloorOf } from './floor.js';
import { loadSample } from './life-first.js';

function loads(name: string, title: string, rowsOf: (setting: Setting) => Row[]): Suite {
  return {
    name,
    cases: [{ name, title, unit: 'ms' }],
    contestants: everyone(
      [async (peer, setting) => ({ [name]: await loadSample(peer, rowsOf(setting)) })],
      loadFloorOf(name, rowsOf),
    ),
  };
}

/** A tenth of the rows, which is about as many bytes. */
const wide = ({ rows }: Setting) => makeRows(Math.ceil(rows / 10), 'wide');

export const LOAD_SHUFFLED = loads('load-shuffled', 'all rows, shuffled', ({ rows }) =>
  shuffled(makeRows(rows)),
);
export const LOAD_WIDE = loads(
  'load-wide',
  'a tenth of the rows, of 1 KiB each, by ascending key',
  wide,
);
export const LOAD_WIDE_SHUFFLED = loads(
  'load-wide-shuffled',
  'a tenth of the rows, of 1 KiB each, shuffled',
  (setting) => shuffled(wide(setting)),
);
