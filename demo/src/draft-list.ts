/** Lists the changes of a draft: the largest of its cities, before and after, and how many differ. */
import type { RowChange } from 'hedgerow';
import type { City, IndexedStore } from './cities.js';
import { byId, make, setText } from './elements.js';
import * as format from './format.js';

/** Changes in the list. */
const LIMIT = 8;

/** Changes that are kept while more are read. */
const KEPT = 500;

type Change = RowChange<City>;

interface Changes {
  readonly count: number;
  readonly largest: readonly Change[];
}

/** Shows the changes of a draft; an empty list for `undefined`. */
export async function showChanges(
  draft: IndexedStore | undefined,
  signal: AbortSignal,
): Promise<void> {
  const { count, largest } = draft ? await changesOf(draft, signal) : { count: 0, largest: [] };
  if (signal.aborted) return;
  byId('draft-rows').replaceChildren(...largest.map(view));
  const rest = count - largest.length;
  setText('draft-rest', rest > 0 ? `and ${format.count(rest)} more` : '');
  setText('draft-differs', draft ? `${format.plural(count, 'row differs', 'rows differ')}` : '');
}

async function changesOf(draft: IndexedStore, signal: AbortSignal): Promise<Changes> {
  let count = 0;
  let kept: Change[] = [];
  for await (const change of draft.cities.sinceFork({ signal })) {
    count += 1;
    kept.push(change);
    if (kept.length > KEPT) kept = largestOf(kept);
  }
  return { count, largest: largestOf(kept) };
}

function largestOf(changes: readonly Change[]): Change[] {
  const people = (change: Change) => cityOf(change).population ?? 0;
  return [...changes].sort((a, b) => people(b) - people(a)).slice(0, LIMIT);
}

/** Returns the city before the change, if it was there. */
function cityOf(change: Change): City {
  return change.op === 'insert' ? change.newValue : change.oldValue;
}

function view(change: Change): HTMLElement {
  const was = change.op === 'insert' ? undefined : change.oldValue;
  const is = change.op === 'delete' ? undefined : change.newValue;
  return make(
    'li',
    {},
    make('span', { class: 'was' }, was ? wordsOf(was) : 'nothing'),
    make('span', { 'aria-label': 'becomes' }, '→'),
    make('span', { class: 'is' }, is ? wordsOf(is) : 'deleted'),
  );
}

function wordsOf({ name, population }: City): string {
  return population === undefined ? name : `${name}, ${format.count(population)}`;
}
