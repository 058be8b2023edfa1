import { keptValue } from '../../base/check-value.js';
import { checkKey, compareKeys } from '../../base/key.js';
import { isInRange, type KeyRange } from '../../base/range.js';
import type { BranchHead, Overrides } from '../history/branch-head.js';
import { blockOf } from '../write/commit-edits.js';
import type { Block } from '../write/ingest.js';
import type { Edit } from '../write/waiting-edit.js';

/** The last edit of a key. */
export interface OwnEdit {
  readonly key: string;
  /** JSON text or bytes; absent for a delete. */
  readonly value?: string | Uint8Array;
  /** The bulk changes that were in progress when the edit was called. */
  readonly over: readonly Overrides[];
  /** The number of keys that were edited before the first edit of this key. */
  readonly order: number;
}

/** The size of one slice's block: UTF-16 units of text plus bytes of byte values. */
const BLOCK_UNITS = 1 << 18;

/** The puts and deletes of a transaction so far. Its own reads see them, though they are not committed yet. */
export class OwnEdits {
  readonly #branchHead: BranchHead;
  readonly #edits = new Map<string, OwnEdit>();
  /** The bulk changes over which these edits win; by default the bulk changes in progress at each edit. */
  over: readonly Overrides[] | undefined;
  /** See `IngestOptions`. */
  isUpkeep = false;
  /** The edits that later edits have replaced since the last mark. */
  #replaced: Map<string, OwnEdit | undefined> | undefined;

  constructor(branchHead: BranchHead, over?: readonly Overrides[]) {
    this.#branchHead = branchHead;
    this.over = over;
  }

  /** The number of edited keys. */
  get size(): number {
    return this.#edits.size;
  }

  /** Whether all edits are deletes: their commit may use the space that storage keeps for deletions. */
  get areDeletes(): boolean {
    for (const { value } of this.#edits.values()) if (value !== undefined) return false;
    return true;
  }

  /** Buffers a put of the value in its current form. */
  put(key: string, value: unknown): void {
    checkKey(key);
    this.#set({ key, value: keptValue(value), ...this.#context(key) });
  }

  /** Buffers a delete. */
  delete(key: string): void {
    checkKey(key);
    this.#set({ key, ...this.#context(key) });
  }

  #context(key: string): Pick<OwnEdit, 'over' | 'order'> {
    const order = this.#edits.get(key)?.order ?? this.#edits.size;
    return { over: this.over ?? this.#branchHead.bulks.underWay(), order };
  }

  #set(edit: OwnEdit): void {
    const { key } = edit;
    if (this.#replaced?.has(key) === false) this.#replaced.set(key, this.#edits.get(key));
    this.#edits.set(edit.key, edit);
  }

  /** Returns a function that takes back all edits from here on, up to the next mark. */
  mark(): () => void {
    const replaced = new Map<string, OwnEdit | undefined>();
    this.#replaced = replaced;
    return () => {
      for (const [key, edit] of replaced) {
        if (edit === undefined) this.#edits.delete(key);
        else this.#edits.set(key, edit);
      }
      replaced.clear();
    };
  }

  /** Returns the edit of a key, if it has one. */
  get(key: string): OwnEdit | undefined {
    return this.#edits.get(key);
  }

  /** Reports whether the last edit of a key is a delete. */
  isDeleted(key: string): boolean {
    const edit = this.#edits.get(key);
    return edit !== undefined && edit.value === undefined;
  }

  /** Returns the edits of a range in the order of their keys. */
  in(range: KeyRange, reverse = false): OwnEdit[] {
    const sign = reverse ? -1 : 1;
    return [...this.#edits.values()]
      .filter(({ key }) => isInRange(key, range))
      .sort((a, b) => sign * compareKeys(a.key, b.key));
  }

  /** Makes the bulk changes in progress leave the edited keys alone. */
  override(): void {
    for (const { key, over } of this.#edits.values()) {
      for (const overrides of over) overrides.add(JSON.stringify(key));
    }
  }

  /** Yields all edits in blocks, each for one slice. */
  *blocks(): Generator<Block, void, void> {
    // Puts first, then deletes: each key has one edit, so the order does not matter.
    yield* blocksOf(this.#edits.values(), true);
    yield* blocksOf(this.#edits.values(), false);
  }
}

/** Yields the blocks of all puts among edits, or of all deletes. */
function* blocksOf(edits: Iterable<OwnEdit>, arePuts: boolean): Generator<Block, void, void> {
  let block: Edit[] = [];
  let units = 0;
  for (const edit of edits) {
    if ((edit.value !== undefined) !== arePuts) continue;
    if (units >= BLOCK_UNITS) {
      yield blockOf(block);
      block = [];
      units = 0;
    }
    block.push({ ...edit, key: JSON.stringify(edit.key) });
    units += edit.key.length + (edit.value?.length ?? 0);
  }
  if (block.length > 0) yield blockOf(block);
}

/** Returns the value of an edit in the form of a read: a new object each time. */
export function readBack({ value }: Pick<OwnEdit, 'value'>): unknown {
  if (value === undefined) return undefined;
  return typeof value === 'string' ? JSON.parse(value) : new Uint8Array(value);
}
