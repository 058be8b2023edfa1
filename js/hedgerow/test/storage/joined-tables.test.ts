/** Tables that are joined to one record: the reads of an opening, and the times when they are joined. */
import { afterEach, beforeEach, describe, expect, it, type MockInstance, vi } from 'vitest';
import { idb } from '../../src/storage/idb/idb.js';
import type { SegmentStore, StoreContents } from '../../src/storage/segment-store.js';
import { batch, idsOf, move, segment } from '../support/contracts/segment-store/records.js';
import { HostileEngine } from '../support/doubles/hostile-idb/engine.js';
import { install } from '../support/doubles/hostile-idb/install.js';
import { HostileStore } from '../support/doubles/hostile-idb/objects.js';
import { random } from '../support/random.js';

const STORED = 16 << 20;
const MANY = 60;
/** The number of tables that a store reads before it knows of joined ones. */
const FIRST = 16;
const idsTo = (count: number, from = 1) => Array.from({ length: count }, (_, at) => from + at);
const LONG = 40_000;

type Joined = [head: Uint8Array, body: Uint8Array | Blob];

describe.each(['chromium', 'firefox', 'webkit'] as const)('in %s', (kind) => {
  let engine: HostileEngine;
  let uninstall: () => void;
  let store: SegmentStore;
  /** Tables that are read one by one, and in ranges. */
  let gets: MockInstance<HostileStore['get']>;
  let ranges: MockInstance<HostileStore['getAll']>;

  beforeEach(async () => {
    engine = new HostileEngine(kind, random(1));
    uninstall = install(engine);
    store = await idb().open('a');
    await write(idsTo(MANY));
    gets = vi.spyOn(HostileStore.prototype, 'get');
    ranges = vi.spyOn(HostileStore.prototype, 'getAll');
  });

  afterEach(async () => {
    vi.restoreAllMocks();
    await store.close();
    uninstall();
  });

  const write = (ids: readonly number[]) => store.write(batch(ids.map((id) => segment(id, LONG))));
  const rest = () => store.upkeep?.(STORED, true);
  const records = (name: string) => engine.stored('hedgerow/a')?.get(name);
  const stored = () => records('joined')?.select(undefined) ?? [];
  const joined = () => stored()[0]?.value as Joined;
  const readOf = (calls: MockInstance) =>
    calls.mock.contexts.filter((one) => (one as HostileStore).name === 'tables').length;

  /** Returns the contents that a new handle finds. */
  async function opened(): Promise<StoreContents> {
    gets.mockClear();
    ranges.mockClear();
    const other = await idb().open('a');
    const loaded = await other.load();
    await other.close();
    return loaded;
  }

  function expectTables(loaded: StoreContents, ids: readonly number[]): void {
    const expected = ids.map((id) => ({ id, tableBytes: segment(id).tableBytes }));
    const found = loaded.tables.map(({ id, tableBytes }) => ({
      id,
      tableBytes: new Uint8Array(tableBytes),
    }));
    expect(found).toEqual(expected);
    expect(loaded.ids).toEqual(ids);
  }

  it('joined tables are read in place of their own records', async () => {
    await rest();
    expect(stored()).toHaveLength(1);
    expect(joined()[1]).toBeInstanceOf(kind === 'webkit' ? Uint8Array : Blob);
    await store.write(batch([], move(0)));
    const loaded = await opened();
    expectTables(loaded, idsTo(MANY));
    expect(loaded.refs.map(({ generation }) => generation)).toEqual([1]);
    expect([readOf(gets), readOf(ranges)]).toEqual([0, 1]);
    // A load does not read their own records: these are not tables.
    for (const id of idsTo(MANY - FIRST, FIRST + 1)) records('tables')?.put(id, new Uint8Array(3));
    expectTables(await opened(), idsTo(MANY));
  });

  it('without joined tables, all others are read at once', async () => {
    expectTables(await opened(), idsTo(MANY));
    expect([readOf(gets), readOf(ranges)]).toEqual([0, 2]);
  });

  it('later tables are read by themselves, and deleted ones are not found', async () => {
    await rest();
    await write([100, 101]);
    await store.delete([1, 30, MANY]);
    const left = [...idsTo(MANY), 100, 101].filter((id) => ![1, 30, MANY].includes(id));
    expectTables(await opened(), left);
    expect([readOf(gets), readOf(ranges)]).toEqual([2, 1]);
  });

  it('segments that moves carry are found in addition to them', async () => {
    await rest();
    await store.write(batch([segment(200, 50)], move(0)));
    await store.write(batch([segment(201, 50)], move(1)));
    const loaded = await opened();
    expectTables(loaded, [...idsTo(MANY), 200, 201]);
    expect(loaded.tables.at(-1)?.segmentBytes).toEqual(segment(201, 50).segmentBytes);
  });

  it('a load since no move reads their own records, as a verification does', async () => {
    await rest();
    const other = new Uint8Array([1, 2, 3]);
    records('tables')?.put(40, other);
    const { tables } = await store.load(undefined, []);
    expect(tables.map(({ id }) => id)).toEqual(idsTo(MANY));
    expect(tables[39]?.tableBytes).toEqual(other);
  });

  it('a load of unknown tables does without joined ones', async () => {
    await rest();
    await write([70]);
    gets.mockClear();
    const loaded = await store.load(new Set(idsTo(MANY)));
    expect(idsOf(loaded)).toEqual([70]);
    expect(gets.mock.contexts.map((one) => (one as HostileStore).name)).toEqual(['tables']);
  });

  it('tables are joined at rest, in a store that is not small', async () => {
    await store.upkeep?.(STORED, false);
    expect(stored()).toEqual([]);
    await store.delete(idsTo(MANY - FIRST, FIRST + 1));
    await rest();
    expect(stored()).toEqual([]);
    await write([100]);
    await rest();
    expect(stored()).toHaveLength(1);
  });

  it('tables are joined again when many are apart, or most were deleted', async () => {
    await rest();
    const first = joined()[0].length;
    await write(idsTo(FIRST, 100));
    await rest();
    expect(joined()[0]).toHaveLength(first);
    await write([200]);
    await rest();
    const size = (count: number) => 8 + 16 * count;
    expect([first, joined()[0].length]).toEqual([size(MANY), size(MANY + FIRST + 1)]);
    await store.delete(idsTo(38));
    await rest();
    expect(joined()[0]).toHaveLength(size(MANY + FIRST + 1));
    await store.delete([39]);
    await rest();
    expect(joined()[0]).toHaveLength(size(38));
    await store.delete([...idsTo(21, 40), 200]);
    await rest();
    expect(stored()).toEqual([]);
    expectTables(await opened(), idsTo(FIRST, 100));
  });

  it('damaged joined tables are ignored, and joined again', async () => {
    await rest();
    const [head, body] = joined();
    const bytes = body instanceof Blob ? new Uint8Array(await body.arrayBuffer()) : body;
    const form = (changed: Uint8Array) =>
      body instanceof Blob ? new Blob([changed as BlobPart]) : changed;
    const flipped = (of: Uint8Array, at: number) =>
      of.map((byte, i) => (i === at ? byte ^ 4 : byte));
    const from = random(7);
    const damages: unknown[] = [
      ...Array.from({ length: 40 }, () => [head, form(flipped(bytes, from.below(bytes.length)))]),
      // Another id, or another end: a table of another segment.
      ...Array.from({ length: 40 }, () => [flipped(head, from.below(head.length)), body]),
      [head, form(bytes.subarray(1))],
      [head, form(new Uint8Array([...bytes, 0]))],
      [head.subarray(16), body],
      [head.subarray(1), body],
      [body, head],
      [head],
      [],
      'tables',
      null,
      new Uint8Array(9),
    ];
    for (const damage of damages) {
      records('joined')?.put(0, damage);
      const other = await idb().open('a');
      expectTables(await other.load(), idsTo(MANY));
      // The read leaves the record as it is.
      expect(stored()[0]?.value).toBe(damage);
      await other.upkeep?.(STORED, true);
      await other.close();
      expect(joined()[0]).toEqual(head);
      const [, made] = joined();
      expect(made instanceof Blob ? new Uint8Array(await made.arrayBuffer()) : made).toEqual(bytes);
    }
  });

  it('joined tables that are replaced during their read are ignored', async () => {
    await rest();
    const [head] = joined();
    const lost = new Blob([new Uint8Array(20 * MANY)]);
    lost.arrayBuffer = () => Promise.reject(new DOMException('gone', 'NotFoundError'));
    vi.restoreAllMocks();
    const { get } = HostileStore.prototype;
    gets = vi.spyOn(HostileStore.prototype, 'get').mockImplementation(function (
      this: HostileStore,
      ...call: Parameters<typeof get>
    ) {
      const request = get.apply(this, call);
      if (this.name === 'joined') {
        Object.defineProperty(request, 'result', { get: () => [head, lost], set: () => {} });
      }
      return request;
    });
    ranges = vi.spyOn(HostileStore.prototype, 'getAll');
    expectTables(await opened(), idsTo(MANY));
    expect(readOf(ranges)).toBe(3);
  });

  it('a store without room for joined tables stays as it was', async () => {
    engine.quota = engine.used;
    // The ballast or the joined tables find no room.
    await store.upkeep?.(1, true).catch(() => {});
    await rest()?.catch(() => {});
    expect(stored()).toEqual([]);
    expectTables(await opened(), idsTo(MANY));
    engine.quota = Number.POSITIVE_INFINITY;
    await rest();
    expect(stored()).toHaveLength(1);
  });
});
