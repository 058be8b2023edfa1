import type { HedgerowError } from '../base/errors.js';
import type { SharedStore } from '../engine/history/shared-store.js';
import { Tabs } from '../storage/tabs/tabs.js';

/**
 * What is heard of storage and of other handles. A store is read while its core starts, so that there may be news of it
 * before there is something to tell: that is kept until then.
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

  /** The store was deleted. */
  handleDeletion(cause: HedgerowError): void {
    this.#tell((shared) => shared.lose(cause));
  }

  /** Moves the store to where its refs point, after its first look. */
  async keepUp(): Promise<void> {
    const { shared } = this;
    if (shared !== undefined) await shared.queueWork(() => shared.keepUp());
  }

  /** Tells the store what was kept. Run it when it has made its first look. */
  catchUp(): void {
    const { shared } = this;
    if (shared !== undefined) for (const news of this.#early.splice(0)) news(shared);
  }

  /** Hears what other tabs say of a store. */
  of(name: string): Tabs {
    return new Tabs(name, {
      onCommit: (ref, generation) => this.#tell((shared) => shared.followRef(ref, generation)),
      onGone: () => this.#tell((shared) => shared.inventory.load().catch(() => {})),
      onRace: () => this.#tell((shared) => shared.writerQueue.note()),
      onRest: () => this.#tell((shared) => shared.rest()),
      onWake: () => this.#tell((shared) => shared.wake()),
    });
  }
}
