/** The commit that a transaction reads, whatever is committed meanwhile. */
import type { Commits } from '../commit.js';
import type { Host } from '../host.js';

/** See the module's text. All that must be kept for a transaction is taken and given back here. */
export class Base {
  readonly commitBytes: Uint8Array;
  readonly view: number;
  readonly #close: () => void;

  private constructor(commitBytes: Uint8Array, view: number, close: () => void) {
    this.commitBytes = commitBytes;
    this.view = view;
    this.#close = close;
  }

  /** The commit that the store stands at. */
  static async open({ engine }: Host, commits: Commits): Promise<Base> {
    const { commitBytes } = commits.head;
    const { view } = await commits.openView(commitBytes);
    return new Base(commitBytes, view, () => engine.closeView(view));
  }

  /** No read of it comes any more. */
  close(): void {
    this.#close();
  }
}
