/**
 * A bucket whose operator serves old and misplaced data: older heads, heads of other branches and of other repositories
 * with the same keys, objects in the place of others, and deleted objects. Writes are honest: an operator who loses
 * writes loses data, and no reader can prevent that.
 */
import type {
  ByteRange,
  ListPrefix,
  Remote,
  RemoteHead,
  RemoteObject,
} from '../../../src/sync/remote/index.js';
import type { Random } from '../random.js';

/** Counts of each kind of lie. */
export const hostileTotals = {
  olderHeads: 0,
  otherHeads: 0,
  swapped: 0,
  revived: 0,
  olderLists: 0,
};

/** Number of heads of each branch, and of lists, that are kept to be served again. */
const MOST_KEPT = 12;

const cut = (bytes: Uint8Array, range: ByteRange | undefined) =>
  bytes.slice(range?.from, range?.to);

/** The one bucket that all its readers and writers share. */
export class HostileBucket {
  readonly #inner: Remote;
  readonly #other: Remote;
  readonly #from: Random;
  readonly #chance: number;
  readonly #heads = new Map<string, RemoteHead[]>();
  readonly #objects = new Map<string, Uint8Array>();
  readonly #lists = new Map<ListPrefix, (readonly RemoteObject[])[]>();
  isHonest = false;

  /** Lies over `inner`, also with the data of `other`, at each read with this chance. */
  constructor(inner: Remote, other: Remote, from: Random, chance: number) {
    this.#inner = inner;
    this.#other = other;
    this.#from = from;
    this.#chance = chance;
  }

  #lies(): boolean {
    return !this.isHonest && this.#from.next() < this.#chance;
  }

  #keep(branch: string, head: RemoteHead | undefined): void {
    const known = this.#heads.get(branch) ?? [];
    if (head === undefined || known.some(({ token }) => token === head.token)) return;
    this.#heads.set(branch, [
      ...known.slice(1 - MOST_KEPT),
      { ...head, bytes: head.bytes.slice() },
    ]);
  }

  /**
   * Returns a head that is not the current one. A device without any knowledge of the remote gets only older heads: it
   * cannot know that a head belongs elsewhere.
   */
  async #falseHead(branch: string, knowsIt: boolean): Promise<RemoteHead | undefined> {
    const kinds = knowsIt ? (['older', 'branch', 'repository'] as const) : (['older'] as const);
    const kind = this.#from.pick(kinds);
    if (kind === 'older') {
      const older = this.#heads.get(branch) ?? [];
      if (older.length > 1) hostileTotals.olderHeads += 1;
      return older.length > 1 ? this.#from.pick(older) : undefined;
    }
    hostileTotals.otherHeads += 1;
    if (kind === 'repository') return this.#other.readHead('main');
    const others = [...this.#heads].filter(([name]) => name !== branch);
    return others.length > 0 ? this.#from.pick(this.#from.pick(others)[1]) : undefined;
  }

  /** Returns another object of the same prefix, from any time, from this bucket or the other one. */
  async #falseObject(name: string, now: Uint8Array | undefined): Promise<Uint8Array | undefined> {
    const { pick, below } = this.#from;
    const prefix = name.slice(0, 2);
    const known = [...this.#objects.keys()].filter((one) => one.startsWith(prefix));
    if (below(3) === 0 && prefix === 'p/') {
      const listed = await this.#other.list('p/');
      if (listed.length > 0) return this.#other.get(pick(listed).name);
    }
    return known.length > 0 ? this.#objects.get(pick(known)) : now;
  }

  /** Returns the remote that one device sees. `knowsIt` returns whether the device has ever been cloned from here. */
  over(inner: Remote, knowsIt: () => boolean): Remote {
    const readHead = async (head: RemoteHead | undefined, branch: string) => {
      this.#keep(branch, head);
      const told = this.#lies() ? await this.#falseHead(branch, knowsIt()) : undefined;
      return told === undefined ? head : { ...told, bytes: told.bytes.slice() };
    };
    return {
      ...inner,
      readHead: async (branch, options) => readHead(await inner.readHead(branch, options), branch),
      readHeadSince: async (branch, token, options) => {
        const head = await readHead(await inner.readHead(branch, options), branch);
        return head?.token === token ? 'unchanged' : head;
      },
      swapHead: async (branch, token, bytes, options) => {
        this.#keep(branch, await this.#inner.readHead(branch));
        const swap = await inner.swapHead(branch, token, bytes, options);
        this.#keep(branch, await this.#inner.readHead(branch));
        return swap;
      },
      put: async (name, bytes, options) => {
        const put = await inner.put(name, bytes, options);
        this.#objects.set(name, bytes.slice());
        return put;
      },
      get: async (name, range, options) => {
        const now = await inner.get(name, range, options);
        if (name === 'hedgerow') return now;
        if (!this.#lies()) {
          if (now !== undefined) return now;
          // An older head may name a deleted object.
          const gone = this.isHonest ? undefined : this.#objects.get(name);
          if (gone !== undefined) hostileTotals.revived += 1;
          return gone && cut(gone, range);
        }
        const other = await this.#falseObject(name, undefined);
        if (other === undefined) return now;
        hostileTotals.swapped += 1;
        return cut(other, range);
      },
      list: async (prefix, options) => {
        const now = await inner.list(prefix, options);
        const known = this.#lists.get(prefix) ?? [];
        this.#lists.set(prefix, [...known.slice(1 - MOST_KEPT), now]);
        // Devices rarely ask for lists.
        if (this.isHonest || this.#chance === 0 || known.length === 0) return now;
        if (this.#from.below(2) === 0) return now;
        hostileTotals.olderLists += 1;
        return this.#from.pick(known);
      },
    };
  }

  /** Records the present head and packs. */
  async begin(): Promise<void> {
    this.#keep('main', await this.#inner.readHead('main'));
    for (const { name } of await this.#inner.list('p/')) {
      this.#objects.set(name, (await this.#inner.get(name)) as Uint8Array);
    }
  }
}
