/** The page: opens the store, runs the race and loads all rows if it is empty, and connects the other parts to it. */
import './styles/page.css';
import './styles/controls.css';
import './styles/stage.css';
import './styles/search.css';
import './styles/tree.css';
import './styles/race.css';
import './styles/bars.css';
import './styles/live.css';
import './styles/all.css';
import { destroy, HedgerowError, open } from 'hedgerow';
import { AllView } from './all-view.js';
import { type CityStore, FIRST_KEY, type Order, STORE } from './cities.js';
import { plainCities } from './city-table.js';
import { byId, setText } from './elements.js';
import { figures } from './figures.js';
import { nextFrame } from './frames.js';
import { FramesView } from './frames-view.js';
import { LivePart } from './live-part.js';
import { load } from './load.js';
import { MapFeed } from './map-feed.js';
import { MatchMap } from './match-map.js';
import { SHORT, WHOLE } from './race.js';
import { RaceView } from './race-view.js';
import { SearchView } from './search-view.js';
import * as stage from './stage.js';
import { showSameRoot, showTree, wireCopy } from './tree-view.js';
import { hideTrouble, showTrouble } from './trouble.js';
import { WorldMap } from './world-map.js';

const map = new WorldMap(byId<HTMLCanvasElement>('map'));
const matchMap = new MatchMap(byId<HTMLCanvasElement>('match-map'), map);
map.onRecolour = () => matchMap.draw();
const frames = new FramesView();
const mapFeed = new MapFeed(map);
frames.onFrame = () => mapFeed.work();
const searchView = new SearchView(matchMap);
const allView = new AllView();
const raceView = new RaceView();
const livePart = new LivePart(() => {
  if (store === undefined) return;
  setText('root', store.root);
  showSameRoot(rootsBefore, store.root);
});
const againButton = byId<HTMLButtonElement>('again');
const raceButton = byId<HTMLButtonElement>('race-again');

let store: CityStore | undefined;
/** Roots of the rows before they were loaded again, with indexes and without. */
let rootsBefore: readonly (string | undefined)[] = [];
/** The root of the loaded rows, before they had indexes. */
let loadedRoot: string | undefined;
/** The rows of the race, which can be searched while all rows are being loaded. */
let raceStore: CityStore | undefined;

const SEARCHES_RACE =
  'While all cities are being loaded, this searches those of the race. The load is one commit: its rows are seen when it is done.';
const WAITS = 'The load is one commit: its rows are seen when it is done.';

/** Searches and lists the rows of `reader` from now on; `undefined` while the store is being filled. */
function attach(reader: CityStore | undefined): void {
  searchView.attach(reader);
  allView.attach(reader);
}

/** Runs one task at a time, and shows its failure. */
async function run(work: () => Promise<void>): Promise<void> {
  hideTrouble();
  againButton.disabled = true;
  raceButton.disabled = true;
  try {
    await work();
  } catch (failure) {
    showTrouble(failure);
    if (figures.rows === undefined) stage.showNothing();
  }
  againButton.disabled = false;
  raceButton.disabled = !livePart.isThere || figures.state !== 'ready';
}

/** Traces the store, once the inspector was opened. */
let trace: ((opened: CityStore) => unknown) | undefined;

/** Opens the store without indexes. */
async function openPlain(): Promise<CityStore> {
  const opened = await open(STORE, { tables: { cities: plainCities } });
  trace?.(opened);
  return opened;
}

async function inspect(): Promise<void> {
  const inspector = await import('./inspect.js');
  inspector.inspect();
  trace = inspector.trace;
  if (store !== undefined) trace(store);
}

async function start(): Promise<void> {
  const startMs = performance.now();
  store = await openPlain();
  const openedMs = performance.now();
  const found = await store.cities.get(FIRST_KEY);
  const gotMs = performance.now();
  if ((await store.cities.count()) === 0) {
    stage.showWaiting();
    // Without it all cities can still be loaded.
    await runRace().catch(showTrouble);
    return fill('sorted');
  }

  const times = { openMs: openedMs - startMs, getMs: gotMs - openedMs };
  figures.opened = { ...times, found: found !== undefined };
  await showOpened(store, times);
}

/** Runs the race, with all rows if the address asks for it. */
async function runRace(): Promise<void> {
  await raceStore?.close();
  raceStore = undefined;
  await seen();
  await painted();
  const isWhole = new URLSearchParams(location.search).get('race') === 'all';
  raceStore = await raceView.run(isWhole ? WHOLE : SHORT, () => {
    raceStore = undefined;
  });
}

async function showOpened(
  opened: CityStore,
  times: { openMs: number; getMs: number },
): Promise<void> {
  const { rows, storedBytes } = await opened.health.stats();
  const opening = { rows, storedBytes, ...times, key: FIRST_KEY, scan: undefined };
  stage.showOpened(opening);
  attach(opened);
  await showWhatIsStored(opened);
  await painted();
  const scanned = await frames.during('One scan of all rows, for the map', () => drawMap(opened));
  const { value: scanMs, worstGapMs } = scanned;
  map.draw();
  figures.scan = { ms: scanMs, worstGapMs, dots: map.dots };
  stage.showOpened({ ...opening, scan: figures.scan });
  await ready(opened);
}

/** Reads every row once. Returns the milliseconds that it took. */
async function drawMap(opened: CityStore): Promise<number> {
  const startMs = performance.now();
  for await (const { lat, lng } of opened.cities) map.addDot(lat, lng);
  return performance.now() - startMs;
}

/** Loads all rows into the store, which is empty. */
async function fill(order: Order): Promise<void> {
  const target = store;
  if (target === undefined) return;
  figures.state = 'loading';
  stage.showLoadBegins(order);
  searchView.attach(raceStore, raceStore ? SEARCHES_RACE : WAITS);
  await painted();
  const loadAll = async () => {
    const loaded = await load(
      target,
      order,
      (progress) => stage.showLoadProgress(progress, frames.worstGapMs),
      (copy) => mapFeed.follow(copy),
    );
    await mapFeed.finish();
    return loaded;
  };
  const { value, worstGapMs } = await frames.during(
    `Loading, ${order}`,
    loadAll,
    ({ result }) => result.stats.longestSliceMs,
  );
  const { bytes, slices, longestSliceMs, storageMs } = value.result.stats;
  const { ms } = value;
  const { dots } = map;
  figures.load = { order, ms, bytes, slices, longestSliceMs, storageMs, worstGapMs, dots };
  stage.showLoaded(value, order, worstGapMs);
  attach(target);
  await showWhatIsStored(target);
  await ready(target);
}

/** Resolves when the page is visible: a hidden one does not move. */
async function seen(): Promise<void> {
  while (document.hidden) {
    await new Promise((resolve) =>
      document.addEventListener('visibilitychange', resolve, { once: true }),
    );
  }
}

/** Resolves when the page is painted: the load should not pay for building the page. */
async function painted(): Promise<void> {
  if (document.readyState !== 'complete') {
    await new Promise((resolve) => addEventListener('load', resolve, { once: true }));
  }
  await nextFrame();
  await nextFrame();
}

async function showWhatIsStored(opened: CityStore): Promise<void> {
  const stats = await opened.health.stats();
  const { rows, root, levels, storedBytes, liveBytes, segments, memoryBytes } = stats;
  loadedRoot = root;
  showSameRoot(rootsBefore, root);
  const stored = { levels, storedBytes, liveBytes, segments, memoryBytes };
  Object.assign(figures, { rows, root, ...stored });
  showTree(stats);
}

async function ready(opened: CityStore): Promise<void> {
  matchMap.draw();
  // Shown again: a scan may have read segments into memory.
  showTree(await opened.health.stats());
  await addIndexes(opened);
  figures.state = 'ready';
}

/**
 * Opens the store with indexes, and makes them in the background. Only after the load, so that the load is one of rows
 * alone. The new handle is there before the old one goes.
 */
async function addIndexes(plain: CityStore): Promise<void> {
  const indexed = await livePart.open(() => {
    if (livePart.store !== indexed) return;
    livePart.detach();
    attach(undefined);
    showTrouble(new HedgerowError('closed', 'another tab has deleted the store'));
  });
  store = indexed;
  trace?.(indexed);
  attach(indexed);
  await plain.close();
  const isCurrent = () => livePart.store === indexed;
  livePart
    .begin(indexed)
    .then(async () => {
      if (!isCurrent()) return;
      showTree(await indexed.health.stats());
      showSameRoot(rootsBefore, indexed.root);
      raceButton.disabled = againButton.disabled;
    })
    .catch((failure: unknown) => {
      // The store was closed, to be loaded again.
      if (isCurrent()) showTrouble(failure);
    });
}

/** Returns the value of the chosen radio button of a group. */
function chosen(group: string): string | undefined {
  return document.querySelector<HTMLInputElement>(`input[name=${group}]:checked`)?.value;
}

async function loadAgain(): Promise<void> {
  rootsBefore = [loadedRoot, store?.root];
  delete figures.rows;
  delete figures.indexes;
  showSameRoot([], '');
  attach(undefined);
  livePart.detach();
  await store?.close();
  store = undefined;
  await destroy(STORE);
  map.clear();
  stage.showNothing();
  store = await openPlain();
  showTree(await store.health.stats());
  await fill(chosen('order') === 'shuffled' ? 'shuffled' : 'sorted');
}

againButton.addEventListener('click', () => void run(loadAgain));
raceButton.addEventListener('click', () => void run(runRace));
byId('inspect').addEventListener('click', () => void inspect().catch(showTrouble));
byId('retry').addEventListener('click', () => location.reload());
wireCopy();
void run(start);
