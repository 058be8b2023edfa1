import { HedgerowError, liveCount } from 'hedgerow';
import { countryName, type IndexedStore } from './cities.js';
import { Draft, type Step } from './draft.js';
import { showChanges } from './draft-list.js';
import { announce, byId, setText } from './elements.js';
import { figures } from './figures.js';
import * as format from './format.js';
import { nextFrame } from './frames.js';
import { showTrouble } from './trouble.js';

type Side = 'main' | 'draft';

/** The draft of the main branch: buttons, both roots, the rows that differ, and the time of each step. */
export class DraftView {
  readonly #buttons = [...byId('draft-controls').querySelectorAll('button')];
  readonly #channel = new BroadcastChannel('hedgerow-demo-drafts');
  readonly #onChange: () => void;
  #draft: Draft | undefined;
  #country = '';
  #isBusy = false;
  #stops: (() => void)[] = [];
  /** Stops reading changes that are out of date. */
  #reading = new AbortController();

  /** `onChange` is called when a step has changed the main branch. */
  constructor(onChange: () => void) {
    this.#onChange = onChange;
    const steps: Record<string, (draft: Draft) => Promise<Step>> = {
      fork: (draft) => draft.fork(),
      grow: (draft) => draft.grow(this.#country),
      rename: (draft) => draft.renameLargest(this.#country),
      delete: (draft) => draft.deleteCountry(this.#country),
      undo: (draft) => draft.undo(),
      merge: (draft) => draft.merge(),
      'throw-away': (draft) => draft.throwAway(),
      'undo-merge': (draft) => draft.undoMerge(),
    };
    for (const button of this.#buttons) {
      const step = steps[button.dataset.step ?? ''];
      button.addEventListener('click', () => step && void this.#run(step));
    }
    this.#channel.addEventListener('message', () => {
      this.#lookAround().catch((failure: unknown) => this.#failed(failure));
    });
    this.#showButtons();
  }

  /** Drafts changes of `store` from now on. */
  async attach(store: IndexedStore | undefined): Promise<void> {
    this.#draft?.close();
    this.#draft = store && new Draft(store);
    setText('draft-step', '');
    setText('draft-call', '');
    this.#follow();
    await this.#lookAround();
  }

  /** Another tab may have begun a draft, or ended it. */
  async #lookAround(): Promise<void> {
    const draft = this.#draft;
    if (draft === undefined || this.#isBusy) return;
    const found = await draft.lookAround();
    if (found === undefined || draft !== this.#draft) return;
    setText('draft-step', found);
    setText('draft-call', '');
    this.#follow();
  }

  /** Makes the next steps change the cities of this country. */
  pick(country: string): void {
    this.#country = country;
    setText('draft-country', countryName(country));
  }

  /** Shows both roots. */
  showRoots(): void {
    const { main, store } = this.#draft ?? {};
    setText('main-root', main ? format.shortRoot(main.root) : '');
    setText('draft-root', store ? format.shortRoot(store.root) : '');
    const isSame = main !== undefined && main.root === store?.root;
    setText('draft-same', isSame ? 'same root' : '');
    byId('draft-side').classList.toggle('absent', store === undefined);
    this.#showButtons();
  }

  #follow(): void {
    for (const stop of this.#stops.splice(0)) stop();
    const { main, store } = this.#draft ?? {};
    this.#count('main', main);
    this.#count('draft', store);
    this.#followChanges(store);
    this.showRoots();
  }

  #count(side: Side, store: IndexedStore | undefined): void {
    setText(`${side}-count`, '');
    if (store === undefined) return;
    const number = liveCount(store.cities);
    const tell = () => {
      const { count } = number.get();
      if (count === undefined) return;
      setText(`${side}-count`, format.plural(count, 'row'));
      this.showRoots();
    };
    number.subscribe(tell);
    tell();
    this.#stops.push(() => number.close());
  }

  /** Lists only what differs: the card above has the rows of the main branch. */
  #followChanges(draft: IndexedStore | undefined): void {
    // A draft that is merged or thrown away is closed, and its followers end.
    const onError = (failure: unknown) => draft === this.#draft?.store && this.#failed(failure);
    const show = () => {
      this.#reading.abort();
      this.#reading = new AbortController();
      const { signal } = this.#reading;
      showChanges(draft, signal).catch((failure) => signal.aborted || onError(failure));
    };
    show();
    if (draft !== undefined) this.#stops.push(draft.cities.watch(show, { onError }));
  }

  async #run(step: (draft: Draft) => Promise<Step>): Promise<void> {
    const draft = this.#draft;
    if (draft === undefined || this.#isBusy) return;
    this.#isBusy = true;
    this.#showButtons();
    const { store } = draft;
    // The store should not pay for painting the click, so wait for it: a frame is painted after its callbacks.
    await nextFrame();
    await new Promise((resolve) => setTimeout(resolve));
    try {
      const done = await step(draft);
      if (draft.store !== store) {
        this.#channel.postMessage('');
        this.#follow();
      }
      await this.#showStep(draft, done);
    } catch (failure) {
      this.#failed(failure);
    }
    this.#isBusy = false;
    this.showRoots();
    this.#onChange();
  }

  async #showStep({ main, store }: Draft, { name, call, ms, rows }: Step): Promise<void> {
    const changed = rows === undefined ? '' : `, ${format.plural(rows, 'row')}`;
    setText('draft-step', `${name} in ${format.duration(ms)}${changed}`);
    setText('draft-call', `await ${call}`);
    announce(`${name} in ${format.duration(ms)}`);
    const [count, draftRows] = [await main.cities.count(), await store?.cities.count()];
    const { root } = main;
    figures.draft = { step: name, ms, root, draftRoot: store?.root, rows: count, draftRows };
  }

  /** Shows a failure. Another tab may have ended the draft. */
  #failed(failure: unknown): void {
    const isGone = failure instanceof HedgerowError && failure.detail === 'branch';
    if (!isGone || this.#draft === undefined) {
      showTrouble(failure);
      return;
    }
    this.#lookAround().catch(showTrouble);
  }

  #showButtons(): void {
    const draft = this.#draft;
    byId('draft-controls').toggleAttribute('aria-busy', this.#isBusy);
    const hasDraft = draft?.store !== undefined;
    for (const button of this.#buttons) {
      const { step } = button.dataset;
      const isFirst = step === 'fork' || step === 'undo-merge';
      button.hidden =
        step === 'undo-merge' ? hasDraft || !draft?.canUndoMerge : isFirst === hasDraft;
      button.disabled = draft === undefined || this.#isBusy || (step === 'undo' && !draft.canUndo);
    }
  }
}
