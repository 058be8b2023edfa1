import { type IndexProgress, open } from 'hedgerow';
import { type IndexedStore, STORE } from './cities.js';
import { indexedCities } from './city-table.js';
import { DraftView } from './draft-view.js';
import { byId } from './elements.js';
import { figures } from './figures.js';
import * as format from './format.js';
import { FrameRecorder } from './frames.js';
import { IndexView, type Picked } from './index-view.js';
import { countriesIn, whenIndexed } from './indexes.js';
import { LiveView, LOADED } from './live-view.js';

const FIRST_COUNTRY = 'FR';

/** The parts that need indexes: the query, its live list, and the draft of the same country. */
export class LivePart {
  readonly #indexView = new IndexView((picked) => this.#pick(picked));
  readonly #draftView: DraftView;
  readonly #liveView: LiveView;
  readonly #recorder = new FrameRecorder();
  /** The store that is or will be shown; `undefined` while there are no rows. */
  store: IndexedStore | undefined;
  /** Whether the indexes are complete. */
  isThere = false;

  /** `onChange` is called when the store changes. */
  constructor(onChange: () => void) {
    const changed = () => {
      onChange();
      this.#draftView.showRoots();
      this.#indexView.changed();
    };
    this.#draftView = new DraftView(changed);
    this.#liveView = new LiveView(changed);
    this.detach();
  }

  /**
   * Opens the store with indexes, and begins to make those it lacks. `onDeleted` is called when another tab has deleted
   * it.
   */
  open(onDeleted: () => void): Promise<IndexedStore> {
    const onIndexProgress = (progress: IndexProgress) => {
      if (!this.isThere) this.#indexView.showProgress(progress);
    };
    return open(STORE, {
      tables: { cities: indexedCities },
      advanced: { onIndexProgress, onDeleted },
    });
  }

  /** Waits for the indexes of `store`, and shows what they can do. */
  async begin(store: IndexedStore): Promise<void> {
    this.store = store;
    const total = await store.cities.count();
    const found = await store.branches.list();
    const isNew = !found.some(({ name }) => name === LOADED);
    if (isNew) this.#indexView.showProgress({ rows: 0, total });
    const startMs = performance.now();
    this.#recorder.start();
    try {
      await whenIndexed(store);
    } finally {
      await this.#recorder.stop();
    }
    const ms = performance.now() - startMs;
    const worstGapMs = this.#recorder.worst()?.ms ?? 0;
    // The branch that everything can be put back to.
    if (isNew) await (await store.branches.open(LOADED)).close();
    const { liveBytes, levels } = await store.health.stats();
    // Chunks that the root reaches outside the tree of rows; all sizes are packed ones.
    const bytes = liveBytes - levels.reduce((sum, level) => sum + level.storedBytes, 0);
    const countries = await countriesIn(store);
    if (store !== this.store) return;
    figures.indexes = { ms, worstGapMs, root: store.root, bytes, liveBytes };
    this.isThere = true;
    const made = `Two indexes were built in the background in ${format.duration(ms)}; longest frame gap ${format.duration(worstGapMs)}.`;
    const words = isNew ? made : 'Both indexes were already stored with the rows.';
    this.#indexView.showMade(`${words} They take ${format.size(bytes)}, packed.`);
    await this.#draftView.attach(store);
    const asked = new URLSearchParams(location.search).get('country');
    this.#indexView.attach(store, countries, asked ?? FIRST_COUNTRY);
    // A second tab was opened for its list, which is lower on the page by now.
    if (location.hash === '#live') byId('live').scrollIntoView();
  }

  /** Lets go of the store, which is about to be closed. */
  detach(): void {
    this.store = undefined;
    this.isThere = false;
    this.#indexView.detach();
    this.#liveView.attach(undefined);
    void this.#draftView.attach(undefined);
  }

  #pick(picked: Picked): void {
    this.#liveView.attach(this.store, picked);
    this.#draftView.pick(picked.country);
  }
}
