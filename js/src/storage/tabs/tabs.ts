import type { ErrorCode } from '../../base/errors.js';

/** What a handle does on messages of other tabs, and when its page is suspended. */
export interface TabEvents {
  /** Another tab has moved `ref`, or any ref if it is not given, to this generation if it is known. */
  onCommit(ref?: string, generation?: number): void;
  /** Another tab has deleted segments, and moved their live chunks. */
  onGone(): void;
  /** Another tab has lost a race for a commit. */
  onRace(): void;
  /** The page may be suspended when this returns. */
  onRest(): void;
  /** The page continues. */
  onWake(): void;
}

/**
 * About a collection that the tab `asker` asks for: see `collect-requests.ts`. Or, in a channel of its own, about the lock
 * `asker`: see `sync/leases.ts`.
 */
export type AskedMessage = { readonly asker: string } & (
  | { readonly is: 'waiting' | 'poke' }
  | { readonly is: 'alive'; readonly told: unknown }
  | { readonly is: 'collect'; readonly isFull: boolean }
  | { readonly is: 'collecting' }
  | { readonly is: 'collected'; readonly result: unknown }
  | { readonly is: 'failed'; readonly code: ErrorCode }
);

type Message =
  | { readonly is: 'commit'; readonly ref: string; readonly generation: number }
  | { readonly is: 'gone' | 'race' }
  | AskedMessage;

/**
 * Sends messages about commits to the other tabs of an origin, and receives theirs. A message can be lost, and a
 * frozen page receives none: so a page that becomes visible, or gets the focus, checks the refs itself. That check
 * also reopens a connection that was lost meanwhile, before the user waits for it.
 *
 * It also reports when the page is about to be suspended: when it is frozen, or enters the back/forward cache. Until
 * the page continues it has no channel, since a message would drop it from that cache.
 */
export class Tabs {
  readonly #storeName: string;
  readonly #events: Partial<TabEvents>;
  #channel: BroadcastChannel | undefined;
  #isResting = false;
  readonly #stop: () => void = () => {};
  /** Receives the messages between tabs about collections. */
  onAsked: (message: AskedMessage) => void = () => {};

  /** Calls the members of `news` for what happens in other tabs and to this page. */
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
      // Refused where storage is denied: then no tab has a store to send messages about.
      return;
    }
    this.#channel.onmessage = ({ data }: MessageEvent<Message>) => this.#hear(data);
  }

  /** `persisted` is false when the page is left for good. */
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

  /** Sends and receives no more. */
  close(): void {
    this.#channel?.close();
    this.#channel = undefined;
    this.#stop();
  }
}
