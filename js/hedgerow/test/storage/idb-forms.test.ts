/** The forms of stored segments in IndexedDB, by engine, and reads of each form. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { idb } from '../../src/storage/idb/idb.js';
import type { SegmentStore } from '../../src/storage/segment-store.js';
import { batch, move, segment } from '../support/contracts/segment-store/records.js';
import { HostileEngine } from '../support/doubles/hostile-idb/engine.js';
import { install } from '../support/doubles/hostile-idb/install.js';
import type { StoredRecord } from '../support/doubles/hostile-idb/records.js';
import { random } from '../support/random.js';

const LONG = 200_000;
const SHORT = (64 << 10) - 1;

let engine: HostileEngine;
let uninstall: () => void;
let store: SegmentStore;

/** Continues in a browser of another kind, with the same disk. */
async function become(kind: 'chromium' | 'firefox' | 'webkit'): Promise<void> {
  await store.close();
  uninstall();
  const agent = new HostileEngine(kind, random(1));
  const undo = install(agent);
  Object.defineProperty(globalThis, 'indexedDB', {
    value: engine,
    configurable: true,
    writable: true,
  });
  uninstall = undo;
  store = await idb().open('a');
  await store.load();
}

const records = (): StoredRecord[] =>
  engine.stored('hedgerow/a')?.get('segments')?.select(undefined) ?? [];

const formOf = ({ key, value }: StoredRecord) => [
  JSON.stringify(key),
  value instanceof Blob ? value.size : (value as Uint8Array).length,
  value instanceof Blob ? 'Blob' : 'bytes',
];

describe.each(['chromium', 'firefox', 'webkit'] as const)('in %s', (kind) => {
  beforeEach(async () => {
    engine = new HostileEngine(kind, random(1));
    uninstall = install(engine);
    store = await idb().open('a');
    await store.write(batch([segment(1, LONG), segment(2, SHORT)], move(0)));
  });

  afterEach(async () => {
    vi.restoreAllMocks();
    await store.close();
    uninstall();
  });

  it('a long segment is a Blob or in pieces, and a short one is bytes', () => {
    const short = ['2', SHORT, 'bytes'];
    const pieces = [65_536, 65_536, 65_536, LONG - 3 * 65_536].map((size, at) => [
      `[1,${at}]`,
      size,
      'bytes',
    ]);
    const forms = kind === 'webkit' ? [short, ...pieces] : [['1', LONG, 'Blob'], short];
    expect(records().map(formOf)).toEqual(forms);
  });

  it.each(['chromium', 'firefox', 'webkit'] as const)('%s reads it', async (other) => {
    await become(other);
    const bytes = segment(1, LONG).segmentBytes;
    const part = { id: 1, from: 65_000, to: 132_000 };
    const behind = { id: 1, from: 400_000, to: 400_010 };
    const found = await store.read([part, 1, behind, 2, { ...part, id: 3 }]);
    const expected = [bytes.slice(65_000, 132_000), bytes, new Uint8Array()];
    expect(found).toEqual([...expected, segment(2, SHORT).segmentBytes, undefined]);
    await store.delete([1]);
    expect(await store.read([part, 1])).toEqual([undefined, undefined]);
    expect(records().map(formOf)).toEqual([['2', SHORT, 'bytes']]);
  });

  it('a whole segment is read as it is stored now, and a part may come from a kept Blob', async () => {
    const part = { id: 1, from: 100, to: 200 };
    const bytes = segment(1, LONG).segmentBytes;
    expect(await store.read([part])).toEqual([bytes.slice(100, 200)]);
    const table = engine.stored('hedgerow/a')?.get('segments');
    const changed = bytes.map((byte) => byte ^ 1);
    for (const { key, value } of records()) {
      if (value instanceof Blob) table?.put(key, new Blob([changed]));
      else if (Array.isArray(key))
        table?.put(
          key,
          (value as Uint8Array).map((byte) => byte ^ 1),
        );
    }
    expect(await store.read([1])).toEqual([changed]);
    // The record of the last look-up is kept.
    expect(await store.read([part])).toEqual([changed.slice(100, 200)]);
  });

  it('a segment whose file is lost has no bytes, after another look-up', async () => {
    if (kind === 'webkit') return;
    const part = { id: 1, from: 100, to: 200 };
    const good = segment(1, LONG).segmentBytes;
    await store.read([part]);
    let failing = 1;
    const read = Blob.prototype.arrayBuffer;
    vi.spyOn(Blob.prototype, 'arrayBuffer').mockImplementation(function (this: Blob) {
      if (failing-- > 0) return Promise.reject(new DOMException('lost', 'NotReadableError'));
      return read.call(this);
    });
    expect(await store.read([part])).toEqual([good.slice(100, 200)]);
    failing = 2;
    expect(await store.read([part])).toEqual([good.slice(100, 200)]);
    failing = 1000;
    expect(await store.read([part, 1, 2])).toEqual([
      new Uint8Array(),
      new Uint8Array(),
      segment(2, SHORT).segmentBytes,
    ]);
    failing = 0;
    expect(await store.read([part])).toEqual([good.slice(100, 200)]);
  });

  it('a lost piece ends its segment', async () => {
    if (kind !== 'webkit') return;
    engine.stored('hedgerow/a')?.get('segments')?.delete([1, 2]);
    const [part, behind, whole] = await store.read([
      { id: 1, from: 100_000, to: 140_000 },
      { id: 1, from: 140_000, to: 150_000 },
      1,
    ]);
    const bytes = segment(1, LONG).segmentBytes;
    expect(part).toEqual(bytes.slice(100_000, 131_072));
    expect(behind).toEqual(new Uint8Array());
    expect(whole?.length).toBe(LONG - 65_536);
  });

  it('segments without a table are deleted, in pieces too', async () => {
    const table = engine.stored('hedgerow/a')?.get('segments');
    table?.put(77, new Blob([new Uint8Array(100)]));
    for (const at of [0, 1, 5]) table?.put([78, at], new Uint8Array(100));
    await store.delete([99]);
    const owners = new Set(records().map(({ key }) => (Array.isArray(key) ? key[0] : key)));
    expect([...owners].sort()).toEqual([1, 2]);
  });

  it('a closed store does not answer from kept Blobs', async () => {
    const part = { id: 1, from: 100, to: 200 };
    await store.read([part]);
    await store.close();
    await expect(store.read([part])).rejects.toMatchObject({ code: 'closed' });
  });
});
