import { HedgerowError } from '../base/errors.js';
import { MAX_SILENCE_MS } from '../base/limits.js';
import { uniqueName } from '../base/locks.js';
import { afterAwake } from '../base/timeout.js';
import type { AskedMessage, Tabs } from './tabs.js';

/** Collects and returns what that came to, calling `alive` now and then; `undefined` if it is not its part. */
export type Answer = (isFull: boolean, alive: () => void) => Promise<unknown> | undefined;

/** Collections that tabs ask each other for. */
export class Asking {
  readonly #tabs: Tabs;
  readonly #answer: Answer;
  readonly #asked = new Map<string, (message: AskedMessage) => void>();

  /** Has `answer` collect when another tab asks for it. */
  constructor(tabs: Tabs, answer: Answer) {
    this.#tabs = tabs;
    this.#answer = answer;
  }

  /** A message has come. */
  hear(message: AskedMessage): void {
    if (message.is === 'collect') this.#collect(message.asker, message.isFull);
    else this.#asked.get(message.asker)?.(message);
  }

  #collect(asker: string, isFull: boolean): void {
    let toldMs = Number.NEGATIVE_INFINITY;
    const alive = () => {
      if (performance.now() - toldMs < MAX_SILENCE_MS / 4) return;
      toldMs = performance.now();
      this.#tabs.tell({ is: 'collecting', asker });
    };
    const collecting = this.#answer(isFull, alive);
    if (collecting === undefined) return;
    alive();
    collecting.then(
      (result) => this.#tabs.tell({ is: 'collected', asker, result }),
      (cause: unknown) => {
        const code = cause instanceof HedgerowError ? cause.code : 'storage';
        this.#tabs.tell({ is: 'failed', asker, code });
      },
    );
  }

  /**
   * Has the tab that is the collector collect, fully or if that is due, and resolves to what that came
   * to; to `undefined` when no tab has said for `MAX_SILENCE_MS` that it is at it.
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
                message.code,
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
