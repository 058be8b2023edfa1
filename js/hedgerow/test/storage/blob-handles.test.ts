/** The Blobs of segments are looked up many at once, and before they are needed. */
import { afterEach, beforeEach, describe, expect, it, type MockInstance, vi } from 'vitest';
import { idb } from '../../src/storage/idb/idb.js';
import type { SegmentRequest, SegmentStore } from '../../src/storage/segment-store.js';
import { batch, move, segment } from '../support/contracts/segment-store/records.js';
import { HostileEngine } from '../support/doubles/hostile-idb/engine.js';
import { install } from '../support/doubles/hostile-idb/install.js';
import { HostileStore } from '../support/doubles/hostile-idb/objects.js';
import { random } from '../support/random.js';

const LONG = 70_000;
const IDS = Array.from({ length: 60 }, (_, at) => at + 1);
const part = (id: number): SegmentRequest => ({ id, from: 100, to: 200 });
const bytesOf = (id: number) => segment(id, LONG).segmentBytes.slice(100, 200);

// WebKit's segments are in pieces.
describe.each(['chromium', 'firefox'] as const)('in %s', (kind) => {
  let uninstall: () => void;
  let store: SegmentStore;
  /** Requests for one record. */
  let lookUps: MockInstance<HostileStore['get']>;

  beforeEach(async () => {
    uninstall = install(new HostileEngine(kind, random(1)));
    store = await idb().open('a');
    await store.write(
      batch(
        IDS.map((id) => segment(id, LONG)),
        move(0),
      ),
    );
    lookUps = vi.spyOn(HostileStore.prototype, 'get');
  });

  afterEach(async () => {
    vi.restoreAllMocks();
    await store.close();
    uninstall();
  });

  it('reads one by one look up few of the Blobs', async () => {
    for (const id of IDS) expect(await store.read([part(id)])).toEqual([bytesOf(id)]);
    expect(lookUps.mock.calls.length).toBeLessThan(20);
  });

  it('reads of many at once look up no Blob by itself', async () => {
    expect(await store.read(IDS.map(part))).toEqual(IDS.map(bytesOf));
    expect(lookUps).not.toHaveBeenCalled();
  });

  it('reads of distant segments look up only these', async () => {
    const far = Array.from({ length: 20 }, (_, at) => (at + 1) * 1000);
    await store.write(batch(far.map((id) => segment(id, LONG))));
    expect(await store.read(far.map(part))).toEqual(far.map(bytesOf));
    expect(lookUps).toHaveBeenCalledTimes(far.length);
  });

  it('parts of one segment look it up once', async () => {
    const wanted = [1, 2, 3, 1, 2, 3, 1].map(part);
    expect(await store.read(wanted)).toEqual([1, 2, 3, 1, 2, 3, 1].map(bytesOf));
    expect(lookUps).toHaveBeenCalledTimes(3);
  });

  it('a Blob that is deleted during its look-up is not kept', async () => {
    for (const id of [1, 2, 3, 4, 5]) await store.read([part(id)]);
    await Promise.all([store.read([part(20)]), store.delete(IDS.slice(30))]);
    for (const id of IDS.slice(30)) expect(await store.read([part(id)])).toEqual([undefined]);
  });

  it('a whole segment that was deleted elsewhere is not found, also with a kept Blob', async () => {
    await store.read(IDS.map(part));
    const other = await idb().open('a');
    await other.delete(IDS);
    await other.close();
    expect(await store.read(IDS)).toEqual(IDS.map(() => undefined));
    await store.load();
    expect(await store.read(IDS.map(part))).toEqual(IDS.map(() => undefined));
  });
});
