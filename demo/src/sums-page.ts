/** The page of the sum tree: its own store, whose total follows its rows. */
import './styles/page.css';
import './styles/controls.css';
import './styles/stage.css';
import './styles/search.css';
import './styles/tree.css';
import './styles/live.css';
import './styles/sums.css';
import { destroy, HedgerowError, open, type Store } from 'hedgerow';
import { fetchFile, type Meta } from './cities.js';
import { byId, setText } from './elements.js';
import { showFigures } from './figure-list.js';
import { figures } from './figures.js';
import * as format from './format.js';
import { rootOf, SUMS, SumProving } from './sum-proving.js';
import { wireCopy } from './tree-view.js';
import { hideTrouble, showTrouble } from './trouble.js';

const STORE = 'largest-cities';
const ROWS_URL = 'data/cities.largest.ndjson';

/** The key of a row is the key of its leaf, its population the sum, its name the value. */
const DEFINITIONS = { [SUMS]: { sum: '/population', value: '/name' } };

const again = byId<HTMLButtonElement>('again');
const proving = new SumProving(() => store && showRoot(store));
let store: Store | undefined;

function openStore(): Promise<Store> {
  return open(STORE, {
    advanced: {
      sums: DEFINITIONS,
      onDeleted: () => {
        proving.attach(undefined);
        showTrouble(new HedgerowError('closed', 'another tab has deleted the store'));
      },
    },
  });
}

/** Opens the store, and fills it when it is empty. */
async function start(): Promise<void> {
  const startMs = performance.now();
  store = await openStore();
  const isEmpty = (await store.count()) === 0;
  if (isEmpty) await fill(store);
  else {
    // Any read waits for the tree.
    await store.sumTree(SUMS).get(SUMS);
    await show(store, performance.now() - startMs);
  }
  figures.state = 'ready';
}

async function fill(target: Store): Promise<void> {
  figures.state = 'loading';
  const { largest } = (await (await fetchFile('data/cities.meta.json')).json()) as Meta;
  showMaking(0, 'Loading rows');
  const response = await fetchFile(ROWS_URL);
  const { stats } = await target.putMany(response, {
    key: '/id',
    onProgress: ({ rows }) => {
      const words =
        rows < largest.rows
          ? `${format.count(rows)} of ${format.count(largest.rows)} rows`
          : 'Summing, and storing rows and sums';
      showMaking(rows / largest.rows, words);
    },
  });
  await show(target, stats.ms, stats);
}

async function show(
  of: Store,
  ms: number,
  made?: { readonly slices: number; readonly longestSliceMs: number },
): Promise<void> {
  const { rows, storedBytes } = await of.health.stats();
  showRoot(of);
  const words =
    made === undefined
      ? `Rows and sums were already stored: opened in ${format.duration(ms)}.`
      : `Rows and sums were stored in one commit, in ${format.duration(ms)}.`;
  showMaking(1, words);
  const sliced = made && [
    ['Slices', format.count(made.slices)] as const,
    ['Longest slice', format.duration(made.longestSliceMs)] as const,
  ];
  showFigures('total-figures', [
    ['Rows, and leaves', format.count(rows)],
    [made === undefined ? 'Opened in' : 'Made in', format.duration(ms)],
    ['Stored, packed', format.size(storedBytes)],
    ...(sliced ?? []),
  ]);
  const wasThere = made === undefined;
  figures.sums = { rows, ...rootOf(of), ms, wasThere };
  proving.attach(of);
}

function showRoot(of: Store): void {
  const { hash, sum } = of.sumTree(SUMS).root;
  setText('total', format.count(sum));
  setText('root', hash);
}

function showMaking(part: number, words: string): void {
  const percent = Math.min(100, Math.floor(100 * part));
  byId('made').style.transform = `translateX(${percent - 100}%)`;
  byId('making').setAttribute('aria-valuenow', String(percent));
  setText('making-words', words);
}

async function startAgain(): Promise<void> {
  proving.attach(undefined);
  setText('total', '0');
  setText('root', '…');
  delete figures.sums;
  delete figures.proof;
  delete figures.moved;
  await store?.close();
  store = undefined;
  await destroy(STORE);
  await start();
}

async function run(work: () => Promise<void>): Promise<void> {
  hideTrouble();
  again.disabled = true;
  try {
    await work();
  } catch (failure) {
    showTrouble(failure);
  }
  again.disabled = false;
  byId<HTMLButtonElement>('copy-root').disabled = store === undefined;
}

again.addEventListener('click', () => void run(startAgain));
byId('retry').addEventListener('click', () => location.reload());
wireCopy();
void run(start);
