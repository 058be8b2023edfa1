import type { ErrorKind } from '../../base/errors.js';

/** The reactions of a handle to messages of other tabs, and to suspensions of its page. */
export interface TabEvents {
  /** Called when another tab has moved `ref`, or any ref without it, to this generation, if known. */
  onCommit(ref?: string, generation?: number): void;
  /** Called when another tab has deleted segments, and moved their live chunks. */
  onGone(): void;
  /** Called when another tab has lost a race for a commit. */
  onRace(): void;
  /** Called before the page may be suspended. */
  onRest(): void;
  /** Called when the page continues. */
  onWake(): void;
}

/**
 * A message about a collection that the tab `asker` requests: see `garbage-collection-requests.ts`. Or, in its own channel, about
 * the lock `asker`: see `sync/link/tab-leases.ts`.
 */
export type AskedMessage = { readonly asker: string } & (
  | { readonly is: 'waiting' | 'poke' }
  | { readonly is: 'alive'; readonly told: unknown }
  | { readonly is: 'collect'; readonly isFull: boolean }
  | { readonly is: 'collecting' }
  | { readonly is: 'collected'; readonly result: unknown }
  | { readonly is: 'failed'; readonly kind: ErrorKind }
);

type Message =
  | { readonly is: 'commit'; readonly ref: string; readonly generation: number }
  | { readonly is: 'gone' | 'race' }
  | AskedMessage;

/**
 * The messages about commits to and from the other tabs of an origin. A message can be lost, and a frozen page receives
 * no messages: so a page that becomes visible, or gets the focus, checks the refs itself. That check also reopens a
 * lost connection, before the user waits for it.
 *
 * It also reports when the page is about to be suspended, by a freeze or the back/forward cache. Until the page
 * continues it has no channel, since a message would drop the page from that cache.
 */
export class TabMessages {
  readonly #storeName: string;
  readonly #events: Partial<TabEvents>;
  #channel: BroadcastChannel | undefined;
  #isResting = false;
  readonly #stop: () => void = () => {};
  /** Receives the messages between tabs about collections. */
  onAsked: (message: AskedMessage) => void = () => {};

  /** Calls the members of `news` for events of other tabs and of this page. */
  constructor(storeName: string, news: Partial<TabEvents> = {}) {
    this.#storeName = storeName;
    this.#events = news;
    this.#listen();
    if (typeof document === 'undefined' || typeof window === 'undefined') return;
    // Two windows next to each other are both visible all the time: only the focus changes.
    const look = () => {
      if (document.visibilityState === 'visible') news.onCommit?.();
    };
    const rest = (event: Event) => this.#handleLifecycle(event, true);
    const wake = (event: Event) => this.#handleLifecycle(event, false);
    const listeners = [
      [document, 'visibilitychange', look],
      [window, 'focus', look],
      [document, 'freeze', rest],
      [window, 'pagehide', rest],
      [document, 'resume', wake],
      [window, 'pageshow', wake],
    ] as const;
    for (const [on, event, listener] of listeners) on.addEventListener(event, listener);
    this.#stop = () => {
      for (const [on, event, listener] of listeners) on.removeEventListener(event, listener);
    };
  }

  #listen(): void {
    if (typeof BroadcastChannel === 'undefined') return;
    try {
      this.#channel = new BroadcastChannel(`hedgerow/${this.#storeName}`);
    } catch {
      // The browser denies storage: no tab has a store to send messages about.
      return;
    }
    this.#channel.onmessage = ({ data }: MessageEvent<Message>) => this.#hear(data);
  }

  /** Handles a suspension or its end. `persisted` is false if the page ends for good. */
  #handleLifecycle(event: Event, isResting: boolean): void {
    const { persisted = true } = event as Partial<PageTransitionEvent>;
    if (!persisted || isResting === this.#isResting) return;
    this.#isResting = isResting;
    if (isResting) {
      this.#channel?.close();
      this.#channel = undefined;
      this.#events.onRest?.();
    } else {
      this.#listen();
      this.#events.onWake?.();
    }
  }

  #hear(message: Message): void {
    const news = this.#events;
    switch (message?.is) {
      case 'commit':
        news.onCommit?.(message.ref, message.generation);
        break;
      case 'gone':
        news.onGone?.();
        break;
      case 'race':
        news.onRace?.();
        break;
      default:
        this.onAsked(message);
    }
  }

  /** Sends a message to the other tabs. */
  tell(message: Message): void {
    this.#channel?.postMessage(message);
  }

  /** Announces a move of a ref. */
  announce(ref: string, generation: number): void {
    this.tell({ is: 'commit', ref, generation });
  }

  /** Announces that segments were deleted. */
  announceGone(): void {
    this.tell({ is: 'gone' });
  }

  /** Announces that this tab has lost a race. */
  announceRace(): void {
    this.tell({ is: 'race' });
  }

  /** Stops sending and receiving. */
  close(): void {
    this.#channel?.close();
    this.#channel = undefined;
    this.#stop();
  }
}
