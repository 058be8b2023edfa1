import type { HedgerowError } from '../base/errors.js';
import type { SharedStore } from '../engine/history/state-shared-by-branches.js';
import { TabMessages } from '../storage/tabs/tab-messages.js';

/**
 * The events of storage and of other handles. A store is read while its core starts, so events may come before there is
 * a store to follow them: they are kept until then.
 */
export class StoreEvents {
  /** The store, once it is there. */
  shared: SharedStore | undefined;
  readonly #early: ((shared: SharedStore) => void)[] = [];

  #tell(news: (shared: SharedStore) => void): void {
    if (this.shared === undefined) this.#early.push(news);
    else news(this.shared);
  }

  handleMove(): void {
    this.#tell((shared) => shared.followRef());
  }

  handleFull(): void {
    this.#tell((shared) => shared.onFull());
  }

  /** Passes on that the store was deleted. */
  handleDeletion(cause: HedgerowError): void {
    this.#tell((shared) => shared.lose(cause));
  }

  /** Moves the store to where its refs point, after its first look. */
  async keepUp(): Promise<void> {
    const { shared } = this;
    if (shared !== undefined) await shared.queueRead(() => shared.keepUp());
  }

  /** Passes the kept events to the store. Call it after the first look of the store. */
  catchUp(): void {
    const { shared } = this;
    if (shared !== undefined) for (const news of this.#early.splice(0)) news(shared);
  }

  /** Listens to the messages of other tabs about a store. */
  of(name: string): TabMessages {
    return new TabMessages(name, {
      onCommit: (ref, generation) => this.#tell((shared) => shared.followRef(ref, generation)),
      onGone: () => this.#tell((shared) => shared.inventory.load().catch(() => {})),
      onRace: () => this.#tell((shared) => shared.writerQueue.note()),
      onRest: () => this.#tell((shared) => shared.rest()),
      onWake: () => this.#tell((shared) => shared.wake()),
    });
  }
}
