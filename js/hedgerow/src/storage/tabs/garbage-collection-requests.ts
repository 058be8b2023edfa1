import { HedgerowError, kindOfError } from '../../base/errors.js';
import { MAX_SILENCE_MS } from '../../base/limits.js';
import { uniqueName } from '../../base/locks.js';
import { afterAwake } from '../../base/timeout.js';
import type { AskedMessage, TabMessages } from './tab-messages.js';

/** Collects, calls `alive` after each slice, and returns the result; `undefined` if this tab is not the collector. */
export type CollectAnswer = (isFull: boolean, alive: () => void) => Promise<unknown> | undefined;

/** Requests for collections between tabs. */
export class CollectRequests {
  readonly #tabs: TabMessages;
  readonly #answer: CollectAnswer;
  readonly #asked = new Map<string, (message: AskedMessage) => void>();

  /** `answer` runs the collections that other tabs ask for. */
  constructor(tabs: TabMessages, answer: CollectAnswer) {
    this.#tabs = tabs;
    this.#answer = answer;
  }

  /** Handles a message of another tab. */
  hear(message: AskedMessage): void {
    if (message.is === 'collect') this.#collect(message.asker, message.isFull);
    else this.#asked.get(message.asker)?.(message);
  }

  #collect(asker: string, isFull: boolean): void {
    let sentMs = Number.NEGATIVE_INFINITY;
    const alive = () => {
      if (performance.now() - sentMs < MAX_SILENCE_MS / 4) return;
      sentMs = performance.now();
      this.#tabs.tell({ is: 'collecting', asker });
    };
    const collecting = this.#answer(isFull, alive);
    if (collecting === undefined) return;
    alive();
    collecting.then(
      (result) => this.#tabs.tell({ is: 'collected', asker, result }),
      (cause: unknown) => {
        const kind = kindOfError(cause) ?? 'unavailable/storage';
        this.#tabs.tell({ is: 'failed', asker, kind });
      },
    );
  }

  /**
   * Asks the collector's tab to collect: fully, or if a collection is due. Resolves to its result, or to
   * `undefined` when no tab has reported for `MAX_SILENCE_MS` that it is collecting.
   */
  async ask(isFull: boolean): Promise<unknown> {
    const asker = uniqueName();
    let stop = () => {};
    try {
      return await new Promise<unknown>((resolve, reject) => {
        const wait = () => {
          stop();
          stop = afterAwake(MAX_SILENCE_MS, () => resolve(undefined));
        };
        this.#asked.set(asker, (message) => {
          if (message.is === 'collected') resolve(message.result);
          else if (message.is === 'failed') {
            reject(
              new HedgerowError(
                message.kind,
                'the tab that compacts the store failed: see its stats().compactFailure',
              ),
            );
          } else wait();
        });
        wait();
        this.#tabs.tell({ is: 'collect', asker, isFull });
      });
    } finally {
      stop();
      this.#asked.delete(asker);
    }
  }
}
