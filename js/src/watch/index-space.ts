/** An index as it is watched: its entries follow from the rows that have changed. */
import type { Commits, HeldHead } from '../commit.js';
import type { Host } from '../host.js';
import type { Index } from '../indexes/definition.js';
import { holdWith } from '../indexes/ready.js';
import { entriesOf, type IndexEntry } from '../indexes/secondary.js';
import type { KeyRange } from '../range.js';
import type { Space } from './gather.js';

/** See the module's text. It need not be made to be watched, but for its rows to be told first. */
export class IndexSpace implements Space {
  readonly rows: KeyRange;
  readonly #host: Host;
  readonly #commits: Commits;
  readonly #index: Index;

  constructor(host: Host, commits: Commits, index: Index) {
    this.rows = { prefix: index.prefix };
    this.#host = host;
    this.#commits = commits;
    this.#index = index;
  }

  entriesOf(key: string, value: unknown): IndexEntry[] {
    return entriesOf(this.#index, key, value);
  }

  hold(): Promise<HeldHead> {
    const [host, commits] = [this.#host, this.#commits];
    const from = {
      host,
      commits,
      get head() {
        return commits.head;
      },
      holdHead: () => commits.holdHead(),
    };
    return holdWith(from, this.#index.name, {});
  }
}
