/** The ballast, which keeps space for deletions: its form, and its protection from other writes. */
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { HedgerowError, memory, open } from '../../src/index.js';
import { idb } from '../../src/storage/idb/idb.js';
import type { SegmentStore, Storage } from '../../src/storage/segment-store.js';
import { collectOnDemand } from '../support/collect-on-demand.js';
import { HostileEngine } from '../support/doubles/hostile-idb/engine.js';
import { install } from '../support/doubles/hostile-idb/install.js';
import { watched } from '../support/doubles/watched-storage.js';
import { kindOf } from '../support/error-kind.js';
import { type Entry, SOON, within } from '../support/models/store-model.js';
import { random } from '../support/random.js';

const MIB = 1 << 20;
const RECORD_BYTES = 256 << 10;

describe('the ballast', () => {
  let engine: HostileEngine;
  let uninstall: () => void;
  let store: SegmentStore;

  beforeEach(async () => {
    engine = new HostileEngine('firefox', random(1));
    uninstall = install(engine);
    store = await idb().open('a');
    await store.upkeep?.(16 * MIB, false);
  });

  afterEach(async () => {
    await store.close();
    uninstall();
  });

  const stored = (name: string) =>
    engine.stored(`hedgerow-ballast/${name}`)?.get('segments')?.select(undefined) ?? [];
  const write = (id: number, length: number, freesSpace: boolean | 'later') => {
    const segmentBytes = random(id).bytes(length);
    const segments = [{ id, segmentBytes, tableBytes: random(id).bytes(20) }];
    const written = store.write({ segments, durability: 'relaxed', freesSpace });
    return written.catch(kindOf);
  };

  for (const [agent, type] of [
    ['(X11; Linux x86_64; rv:153.0) Gecko/20100101 Firefox/153.0', Blob],
    ['(X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0', Uint8Array],
  ] as const) {
    it(`is of ${type.name}s where the browser is ${agent.split(' ').at(-1)}`, async () => {
      vi.stubGlobal('navigator', { userAgent: `Mozilla/5.0 ${agent}` });
      onTestFinished(() => {
        vi.unstubAllGlobals();
      });
      const other = await idb().open('b');
      await other.upkeep?.(16 * MIB, false);
      await other.close();
      const values = stored('b').map(({ value }) => value as Blob | Uint8Array);
      const size = (value: Blob | Uint8Array) =>
        value instanceof Blob ? value.size : value.byteLength;
      expect(values.map(size)).toEqual(Array.from({ length: 4 }, () => RECORD_BYTES));
      expect(values.every((value) => value instanceof type)).toBe(true);
    });
  }

  it('does not wait for a suspended tab that was about to make it', async () => {
    const other = await idb().open('b');
    engine.suspended.add('hedgerow-ballast/b');
    await expect(within(other.upkeep?.(16 * MIB, false) as Promise<void>)).rejects.toMatchObject({
      code: 'blocked',
    });
    engine.suspended.clear();
    await other.upkeep?.(16 * MIB, false);
    expect(stored('b')).toHaveLength(4);
    await other.close();
  });

  it('is filled again before a write that follows a deletion', async () => {
    engine.quota = engine.used + 1000;
    expect(await within(write(1, 2000, true))).toBe(true);
    const writes = [2, 3, 4].map((id) => write(id, RECORD_BYTES, false));
    expect(await within(Promise.all(writes))).toEqual(Array(3).fill('quota-exceeded'));
    expect(stored('a')).toHaveLength(3);
  });

  it('gives up to half of its space to copies, which make room later', async () => {
    engine.quota = engine.used + 1000;
    expect(await write(1, 2000, 'later')).toBe(true);
    expect(await within(write(2, 2000, 'later'))).toBe(true);
    await within(vi.waitFor(() => expect(stored('a')).toHaveLength(3), SOON));
    expect(await within(write(3, RECORD_BYTES, 'later'))).toBe(true);
    await within(vi.waitFor(() => expect(stored('a')).toHaveLength(2), SOON));
    expect(await within(write(4, RECORD_BYTES, 'later'))).toBe('quota-exceeded');
    expect(stored('a')).toHaveLength(2);
    expect(await within(write(5, RECORD_BYTES, true))).toBe(true);
  });

  it('is filled again when a write finds no room, before other writes take it', async () => {
    engine.quota = engine.used + 1000;
    expect(await write(1, 2 * RECORD_BYTES, true)).toBe(true);
    await within(vi.waitFor(() => expect(stored('a')).toHaveLength(2), SOON));
    // A log is written back: there is room, though not for the whole write.
    engine.quota += 2 * RECORD_BYTES;
    expect(await write(2, 5 * RECORD_BYTES, false)).toBe('quota-exceeded');
    expect(stored('a')).toHaveLength(4);
  });
});

/** Memory that refuses writes while more than `quota` bytes are stored. */
function limited() {
  const inner = watched(memory());
  const bytes = () =>
    [...inner.stored.values()].reduce((sum, { segmentBytes }) => sum + segmentBytes.length, 0);
  const limit = { quota: Number.POSITIVE_INFINITY };
  const storage: Storage = {
    ...inner,
    async open(name, options) {
      const store = await inner.open(name, options);
      const write: SegmentStore['write'] = async (batch) => {
        if (bytes() > limit.quota) throw new HedgerowError('quota-exceeded', 'for a test');
        return store.write(batch);
      };
      return new Proxy(store, {
        get(target, key) {
          if (key === 'write') return write;
          const value: unknown = Reflect.get(target, key);
          return typeof value === 'function' ? value.bind(target) : value;
        },
      });
    },
  };
  return { storage, limit, bytes };
}

it('a deletion that finds no room is made after dead values are deleted', async () => {
  collectOnDemand();
  const { storage, limit, bytes } = limited();
  const db = await open('test', { storage });
  const from = random(3);
  const values = Array.from({ length: 40 }, (_, at): Entry => [`v${at + 10}`, from.bytes(200_000)]);
  await db.putMany(values);
  // The store now knows which values are live.
  await db.health.compact();
  await db.deleteMany(values.slice(0, 15).map(([key]) => key));
  const full = bytes();
  limit.quota = full - MIB;
  await db.delete('v49');
  expect(bytes()).toBeLessThan(full - MIB);
  expect(await db.get('v48')).toEqual(values[38]?.[1]);
});
