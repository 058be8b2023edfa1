/**
 * Tells the other tabs of an origin about commits, and hears of theirs. A message can be lost,
 * and a frozen page hears none: whoever becomes visible, or gets the focus, looks for itself.
 * That look also opens a connection again that was lost meanwhile, before the user waits for it.
 */
import { HedgerowError } from './errors.js';

/** What other tabs tell. */
export interface News {
  /** Another tab has moved a ref, to this generation if it is known; some ref, without a name. */
  onCommit(ref?: string, generation?: number): void;
  /** Another tab has deleted segments, and moved what was live of them. */
  onGone(): void;
  /** Another tab has lost a race for a commit. */
  onRace(): void;
}

type Message =
  | { readonly is: 'commit'; readonly ref: string; readonly generation: number }
  | { readonly is: 'gone' | 'race' }
  | { readonly is: 'collect'; readonly asker: string }
  | { readonly is: 'collected'; readonly asker: string; readonly result: unknown };

/** How long the tab that collects may take for it, in milliseconds. */
const COLLECT_LIMIT = 60_000;

/** See the module's text. */
export class Tabs {
  readonly #channel: BroadcastChannel | undefined;
  readonly #stop: () => void = () => {};
  readonly #asked = new Map<string, (result: unknown) => void>();
  /** Collects, if this tab is the one that does. */
  onCollect: () => Promise<unknown> = () => Promise.reject(new Error('not open yet'));

  /** Tells `news` what is heard. */
  constructor(storeName: string, news: News) {
    if (typeof BroadcastChannel !== 'undefined') {
      const channel = new BroadcastChannel(`hedgerow/${storeName}`);
      channel.onmessage = ({ data }: MessageEvent<Message>) => this.#hear(data, news);
      this.#channel = channel;
    }
    // Two windows side by side are both visible all the time: only the focus tells.
    if (typeof document !== 'undefined' && typeof window !== 'undefined') {
      const look = () => {
        if (document.visibilityState === 'visible') news.onCommit();
      };
      document.addEventListener('visibilitychange', look);
      window.addEventListener('focus', look);
      this.#stop = () => {
        document.removeEventListener('visibilitychange', look);
        window.removeEventListener('focus', look);
      };
    }
  }

  #hear(message: Message, news: News): void {
    switch (message?.is) {
      case 'commit':
        news.onCommit(message.ref, message.generation);
        break;
      case 'gone':
        news.onGone();
        break;
      case 'race':
        news.onRace();
        break;
      case 'collect': {
        const { asker } = message;
        // Only the collector can; what fails there is left to the asker's limit.
        const tell = (result: unknown) => this.#tell({ is: 'collected', asker, result });
        this.onCollect().then(tell, () => {});
        break;
      }
      case 'collected':
        this.#asked.get(message.asker)?.(message.result);
        break;
    }
  }

  #tell(message: Message): void {
    this.#channel?.postMessage(message);
  }

  /** Tells of a move of a ref. */
  announce(ref: string, generation: number): void {
    this.#tell({ is: 'commit', ref, generation });
  }

  /** Tells that segments were deleted. */
  announceGone(): void {
    this.#tell({ is: 'gone' });
  }

  /** Has the tab that is the collector collect, and resolves to what that came to. */
  async askToCollect<T>(): Promise<T> {
    const asker = crypto.randomUUID();
    let timer: ReturnType<typeof setTimeout> | undefined;
    try {
      return await new Promise<T>((resolve, reject) => {
        this.#asked.set(asker, (result) => resolve(result as T));
        const late = () => reject(new HedgerowError('blocked', 'the tab that collects is silent'));
        timer = setTimeout(late, COLLECT_LIMIT);
        this.#tell({ is: 'collect', asker });
      });
    } finally {
      clearTimeout(timer);
      this.#asked.delete(asker);
    }
  }

  /** Tells of a race that was lost. */
  announceRace(): void {
    this.#tell({ is: 'race' });
  }

  /** Tells and hears no more. */
  close(): void {
    this.#channel?.close();
    this.#stop();
  }
}
