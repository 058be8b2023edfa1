/**
 * Tells the other tabs of an origin about commits, and hears of theirs. A message can be lost,
 * and a frozen page hears none: whoever becomes visible, or gets the focus, looks for itself.
 * That look also opens a connection again that was lost meanwhile, before the user waits for it.
 */
export class Tabs {
  readonly #channel: BroadcastChannel | undefined;
  readonly #stop: () => void = () => {};

  /** Calls `onNews` with the generation that another tab has made, if it is known. */
  constructor(storeName: string, onNews: (generation?: number) => void) {
    if (typeof BroadcastChannel !== 'undefined') {
      const channel = new BroadcastChannel(`hedgerow/${storeName}`);
      channel.onmessage = ({ data }: MessageEvent<unknown>) => {
        if (typeof data === 'number') onNews(data);
      };
      this.#channel = channel;
    }
    // Two windows side by side are both visible all the time: only the focus tells.
    if (typeof document !== 'undefined' && typeof window !== 'undefined') {
      const look = () => {
        if (document.visibilityState === 'visible') onNews();
      };
      document.addEventListener('visibilitychange', look);
      window.addEventListener('focus', look);
      this.#stop = () => {
        document.removeEventListener('visibilitychange', look);
        window.removeEventListener('focus', look);
      };
    }
  }

  /** Tells of a commit. */
  announce(generation: number): void {
    this.#channel?.postMessage(generation);
  }

  /** Tells and hears no more. */
  close(): void {
    this.#channel?.close();
    this.#stop();
  }
}
