import type { ErrorCode } from '../base/errors.js';

/** What a handle tells of itself, and what it does when it hears of others. */
export interface News {
  /** Another tab has moved a ref, to this generation if it is known; some ref, without a name. */
  onCommit(ref?: string, generation?: number): void;
  /** Another tab has deleted segments, and moved what was live of them. */
  onGone(): void;
  /** Another tab has lost a race for a commit. */
  onRace(): void;
  /** The page may be suspended when this returns. */
  onRest(): void;
  /** It goes on. */
  onWake(): void;
}

/** About a collection that the tab `asker` asks for: see `collect-requests.ts`. */
export type AskedMessage = { readonly asker: string } & (
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
 * Tells the other tabs of an origin about commits, and hears of theirs. A message can be lost,
 * and a frozen page hears none: whoever becomes visible, or gets the focus, looks for itself.
 * That look also opens a connection again that was lost meanwhile, before the user waits for it.
 *
 * It also hears when the page is about to be suspended: when it is frozen, or enters the back/forward
 * cache. From then on until it goes on it has no channel, since a message would drop it from that cache.
 */
export class Tabs {
  readonly #storeName: string;
  readonly #news: Partial<News>;
  #channel: BroadcastChannel | undefined;
  #isResting = false;
  readonly #stop: () => void = () => {};
  /** Hears of collections that tabs ask each other for. */
  onAsked: (message: AskedMessage) => void = () => {};

  /** Tells `news` what is heard. */
  constructor(storeName: string, news: Partial<News> = {}) {
    this.#storeName = storeName;
    this.#news = news;
    this.#listen();
    if (typeof document === 'undefined' || typeof window === 'undefined') return;
    // Two windows side by side are both visible all the time: only the focus tells.
    const look = () => {
      if (document.visibilityState === 'visible') news.onCommit?.();
    };
    const rest = (event: Event) => this.#suspended(event, true);
    const wake = (event: Event) => this.#suspended(event, false);
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
      // Refused where storage is denied: then there is nothing to hear of.
      return;
    }
    this.#channel.onmessage = ({ data }: MessageEvent<Message>) => this.#hear(data);
  }

  /** A page that is left for good tells so, too: then `persisted` is false. */
  #suspended(event: Event, isResting: boolean): void {
    const { persisted = true } = event as Partial<PageTransitionEvent>;
    if (!persisted || isResting === this.#isResting) return;
    this.#isResting = isResting;
    if (isResting) {
      this.#channel?.close();
      this.#channel = undefined;
      this.#news.onRest?.();
    } else {
      this.#listen();
      this.#news.onWake?.();
    }
  }

  #hear(message: Message): void {
    const news = this.#news;
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

  /** Tells the other tabs. */
  tell(message: Message): void {
    this.#channel?.postMessage(message);
  }

  /** Tells of a move of a ref. */
  announce(ref: string, generation: number): void {
    this.tell({ is: 'commit', ref, generation });
  }

  /** Tells that segments were deleted. */
  announceGone(): void {
    this.tell({ is: 'gone' });
  }

  /** Tells of a race that was lost. */
  announceRace(): void {
    this.tell({ is: 'race' });
  }

  /** Tells and hears no more. */
  close(): void {
    this.#channel?.close();
    this.#channel = undefined;
    this.#stop();
  }
}
