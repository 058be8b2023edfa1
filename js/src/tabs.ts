/**
 * Tells the other tabs of an origin about commits, and hears of theirs. A message can be lost,
 * and a frozen page hears none: whoever becomes visible looks for itself.
 */

/** What is told by one who lost a race for a commit. */
const RACE = 'race';

/** See the module's text. */
export class Tabs {
  readonly #channel: BroadcastChannel | undefined;
  readonly #onVisible: (() => void) | undefined;

  /**
   * Calls `onNews` with the generation that another tab has made, if it is known, and `onRace`
   * when another tab has lost a race.
   */
  constructor(
    storeName: string,
    onNews: (generation?: number) => void,
    onRace: () => void = () => {},
  ) {
    if (typeof BroadcastChannel !== 'undefined') {
      const channel = new BroadcastChannel(`hedgerow/${storeName}`);
      channel.onmessage = ({ data }: MessageEvent<unknown>) => {
        if (typeof data === 'number') onNews(data);
        else if (data === RACE) onRace();
      };
      this.#channel = channel;
    }
    if (typeof document !== 'undefined') {
      this.#onVisible = () => {
        if (document.visibilityState === 'visible') onNews();
      };
      document.addEventListener('visibilitychange', this.#onVisible);
    }
  }

  /** Tells of a commit. */
  announce(generation: number): void {
    this.#channel?.postMessage(generation);
  }

  /** Tells of a race that was lost. */
  announceRace(): void {
    this.#channel?.postMessage(RACE);
  }

  /** Tells and hears no more. */
  close(): void {
    this.#channel?.close();
    if (this.#onVisible !== undefined) {
      document.removeEventListener('visibilitychange', this.#onVisible);
    }
  }
}
