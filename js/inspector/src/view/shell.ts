/** The page: one store or the list of stores, one panel, and a line of messages. Its address names the view. */

import { idb } from 'hedgerow';
import { hashOf, type PageAddress, parsePageAddress, type Tab } from '../model/page-address.js';
import { TimeLine } from '../model/page-work-timeline.js';
import { openFile } from '../model/store-export-file.js';
import { Session, type StoreLocation } from '../model/store-session.js';
import { wordsOfError } from '../model/store-summary.js';
import { fill, h } from './dom.js';
import { header } from './header.js';
import type { Panel, PanelContext } from './panel-types.js';
import { PANELS } from './panels-by-tab.js';
import { storesView } from './stores-view.js';
import { PANEL_ID, tablist } from './tablist.js';
import { checkOfPlace } from './verification-panel.js';

/** Finds the page that has opened this one, if any. */
function openedBy(): (Window & typeof globalThis) | undefined {
  const by = window.parent === window ? window.opener : window.parent;
  try {
    return by?.location.origin === location.origin ? by : undefined;
  } catch {
    return undefined;
  }
}

export class Shell {
  readonly #root: HTMLElement;
  readonly #message = h('p', { class: 'message', role: 'status' });
  readonly #timeLine = new TimeLine();
  readonly #open: Panel[] = [];
  #session: Session | undefined;
  #shown: PageAddress = { tab: 'rows' };
  /** A store of a file, which is in memory. */
  #file: StoreLocation | undefined;
  #roots: PanelContext['roots'];
  /** The number of the newest view: late results of earlier views are dropped. */
  #turn = 0;

  constructor(root: HTMLElement) {
    this.#root = root;
    this.#timeLine.follow(openedBy() ?? window);
    window.addEventListener('hashchange', () => this.#handleHashChange());
    void this.#go(parsePageAddress(location.hash));
  }

  /** Follows a change of the address, by a link or by the buttons of the browser. */
  #handleHashChange(): void {
    if (this.#file !== undefined) {
      this.#file = undefined;
      void this.#leave();
    }
    void this.#go(parsePageAddress(location.hash));
  }

  #say(text: string): void {
    this.#message.classList.remove('problem');
    this.#message.textContent = text;
  }

  #fail(cause: unknown): void {
    this.#message.classList.add('problem');
    this.#message.textContent = wordsOfError(cause);
  }

  #clear(): void {
    for (const open of this.#open.splice(0)) open.close?.();
    this.#say('');
  }

  /** Shows another view, and puts it into the address. */
  #show(shown: Partial<PageAddress>): void {
    const next = { ...this.#shown, ...shown };
    if ('store' in shown) this.#file = undefined;
    const { pathname, search } = location;
    // A file has no address: it is gone when the page is loaded again.
    if (this.#file === undefined)
      history.pushState(undefined, '', pathname + search + hashOf(next));
    void this.#go(next);
  }

  async #go(shown: PageAddress): Promise<void> {
    const turn = ++this.#turn;
    const isSame = shown.store === this.#shown.store && shown.branch === this.#shown.branch;
    this.#shown = shown;
    this.#clear();
    if (shown.store === undefined) return this.#showStores();
    if (isSame && this.#session !== undefined) return this.#draw(turn);
    await this.#leave();
    const place = this.#file ?? { name: shown.store, storage: idb(), canEdit: true };
    try {
      const session = await Session.open(place, shown.branch);
      if (turn !== this.#turn) return await session.close();
      this.#session = session;
      await this.#draw(turn);
    } catch (cause) {
      if (turn === this.#turn) this.#showDamaged(place, cause);
    }
  }

  async #leave(): Promise<void> {
    const session = this.#session;
    this.#session = undefined;
    await session?.close();
  }

  async #showStores(): Promise<void> {
    this.#file = undefined;
    await this.#leave();
    const view = storesView((store) => this.#show({ store, branch: undefined, tab: 'rows' }));
    this.#frame(undefined, [], view.element);
    this.#open.push(view);
  }

  /** Shows a store that does not open: it can still be verified. */
  #showDamaged(place: StoreLocation, cause: unknown): void {
    const check = checkOfPlace(place, this.#context());
    this.#open.push(check);
    this.#frame(undefined, [], h('main', {}, check.element));
    this.#fail(cause);
  }

  async #draw(turn: number): Promise<void> {
    const session = this.#session as Session;
    const branches = await session.db.branches.list({ remotes: true });
    if (turn !== this.#turn) return;
    const { tab } = this.#shown;
    const panel = PANELS[tab]({ ...this.#context(), session, roots: this.#roots });
    this.#roots = undefined;
    this.#open.push(panel);
    const tabs = tablist(tab, (chosen: Tab) => this.#show({ tab: chosen }));
    const attributes = { role: 'tabpanel', id: PANEL_ID, 'aria-labelledby': `tab-${tab}` };
    const names = branches.map(({ name }) => name);
    // The element with the focus is replaced.
    const { activeElement } = document;
    const place = activeElement?.matches('header select')
      ? 'header select'
      : '[aria-selected=true]';
    const hadFocus = this.#root.contains(activeElement);
    this.#frame(
      session,
      names,
      h('nav', {}, tabs),
      h('main', {}, h('div', attributes, panel.element)),
    );
    if (hadFocus) this.#root.querySelector<HTMLElement>(place)?.focus();
    // On a phone the tabs are wider than the screen.
    const chosen = this.#root.querySelector('[role=tab][aria-selected=true]');
    chosen?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }

  #frame(session: Session | undefined, branches: readonly string[], ...parts: HTMLElement[]): void {
    const line = header(session, branches, {
      onStores: () => this.#show({ store: undefined, branch: undefined, tab: 'rows' }),
      onFile: (file) => void this.#openFile(file),
      onBranch: (branch) => this.#show({ branch }),
    });
    this.#open.push(line);
    const name = session?.place.name;
    document.title = name === undefined ? 'Hedgerow inspector' : `${name} · Hedgerow inspector`;
    fill(this.#root, line.element, ...parts, h('footer', {}, this.#message));
  }

  async #openFile(file: File): Promise<void> {
    const progress = ({ fraction }: { fraction: number | undefined }) =>
      this.#say(`Reading ${file.name}: ${Math.round((fraction ?? 0) * 100)} %`);
    const place = await this.#runTimed('open a file', () => openFile(file.name, file, progress));
    if (place === undefined) return;
    await this.#leave();
    this.#file = place;
    void this.#go({ store: place.name, tab: 'rows' });
  }

  async #runTimed<T>(name: string, work: () => Promise<T>): Promise<T | undefined> {
    const startMs = performance.now();
    this.#say('');
    try {
      return await work();
    } catch (cause) {
      this.#fail(cause);
      return undefined;
    } finally {
      // The strip has the clock of the followed page.
      const sinceMs = performance.timeOrigin - (openedBy() ?? window).performance.timeOrigin;
      const durationMs = performance.now() - startMs;
      this.#timeLine.add({ kind: 'inspector', name, startMs: startMs + sinceMs, durationMs });
    }
  }

  #context(): Omit<PanelContext, 'session' | 'roots'> {
    return {
      timeLine: this.#timeLine,
      show: (shown) => this.#show(shown),
      compare: (from, to) => {
        this.#roots = { from, to };
        this.#show({ tab: 'compare' });
      },
      say: (text) => this.#say(text),
      fail: (cause) => this.#fail(cause),
      runTimed: (name, work) => this.#runTimed(name, work),
    };
  }
}
