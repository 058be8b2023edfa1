/**
 * The IndexedDB adapter on engines that fail as the real ones do (`hostile-idb/engine.ts`): it reports each failure at
 * once by its kind, and opens lost connections again.
 */
import { afterEach, assert, beforeEach, describe, expect, it } from 'vitest';
import { idb } from '../../src/storage/idb/idb.js';
import type { RefMove, SegmentStore } from '../../src/storage/segment-store.js';
import { segmentStoreContract } from '../support/contracts/segment-store-contract.js';
import { HostileEngine } from '../support/doubles/hostile-idb/engine.js';
import { install } from '../support/doubles/hostile-idb/install.js';
import type { EngineKind } from '../support/doubles/hostile-idb/running.js';
import { kindOf } from '../support/error-kind.js';
import { random } from '../support/random.js';

const KINDS: readonly EngineKind[] = ['chromium', 'firefox', 'webkit'];
const DATABASE = 'hedgerow/a';
let engine: HostileEngine;
let uninstall: () => void;
let store: SegmentStore;

function start(kind: EngineKind, seed = 1): void {
  engine = new HostileEngine(kind, random(seed));
  uninstall = install(engine);
}

const bytes = (length: number, seed: number) => random(seed).bytes(length);
const segment = (id: number, length = 1000) => ({
  id,
  segmentBytes: bytes(length, id),
  tableBytes: bytes(20, id),
});

/** Writes a segment with a move from `expected`; returns the result, or the code of the failure. */
function commit(id: number, expected: number, length = 1000): Promise<unknown> {
  const commitBytes = bytes(32, id);
  const move: RefMove = {
    name: 'main',
    commitBytes,
    expected,
    generation: expected + 1,
    format: 1,
  };
  const written = store.write({ segments: [segment(id, length)], move, durability: 'relaxed' });
  return written.catch((cause: { code: unknown }) => kindOf(cause));
}

const keysOf = (name: string) =>
  engine
    .stored(DATABASE)
    ?.get(name)
    ?.select(undefined)
    .map(({ key }) => key) ?? [];

const generation = async () => (await store.load()).refs[0]?.generation;

afterEach(async () => {
  await store?.close();
  uninstall();
});

for (const kind of KINDS) {
  describe(`in ${kind}`, () => {
    beforeEach(async () => {
      start(kind);
      store = await idb().open('a');
    });

    for (const { name, run } of segmentStoreContract) it(name, () => run(idb(), assert));

    for (const length of [1000, 100_000]) {
      it(`a full quota is reported at once, with ${length} bytes to write, and with room writes work`, async () => {
        await commit(1, 0, length);
        engine.quota = engine.used + 100;
        expect(await commit(2, 1, length)).toBe('quota-exceeded');
        expect(await commit(3, 1, length)).toBe('quota-exceeded');
        expect(await generation()).toBe(1);
        expect(await store.read([1, 2, 3])).toEqual([segment(1, length).segmentBytes, ...NONE]);
        engine.quota = Number.POSITIVE_INFINITY;
        expect(await commit(4, 1, length)).toBe(true);
        // Opened once; Firefox refuses one put after a failure, and then the connection is opened again.
        expect(engine.happened.openings - ballasts()).toBeLessThan(kind === 'firefox' ? 5 : 2);
      });
    }

    it('each write that finds no room reports that to its store', async () => {
      let calls = 0;
      await store.close();
      store = await idb().open('a', { onFull: () => void calls++ });
      await commit(1, 0);
      engine.quota = engine.used + 100;
      for (const after of [1, 2]) {
        expect(await commit(2, 1)).toBe('quota-exceeded');
        expect(calls).toBeGreaterThanOrEqual(after);
      }
      engine.quota = Number.POSITIVE_INFINITY;
      calls = 0;
      await commit(3, 1);
      expect(calls).toBe(0);
    });

    it('a lost race causes no message', async () => {
      await commit(1, 0);
      for (const length of [1000, 100_000]) expect(await commit(2, 0, length)).toBe(false);
      expect(keysOf('segments')).toEqual([]);
      expect(await generation()).toBe(1);
      expect(engine.happened.heard).toBe(0);
    });
  });
}

const NONE = [undefined, undefined];

/** Counts the openings of the ballast, which a full store looks for. */
function ballasts(): number {
  return engine.openedNames.filter((name) => name.startsWith('hedgerow-ballast/')).length;
}

describe('a write or read with an unknown outcome', () => {
  beforeEach(async () => {
    start('webkit');
    store = await idb().open('a');
    await commit(1, 0);
  });

  for (const name of ['UnknownError', 'AbortError', 'InvalidStateError']) {
    it(`${name} of a read opens another connection, and the read runs again`, async () => {
      engine.faults = [{ at: 'request', name }];
      expect(await generation()).toBe(1);
      expect(engine.happened.openings).toBe(2);
    });
  }

  it('TransactionInactiveError at the start of a transaction has the same effect', async () => {
    engine.faults = [{ at: 'call', name: 'TransactionInactiveError' }];
    expect(await store.read([1])).toEqual([segment(1).segmentBytes]);
    engine.faults = [{ at: 'call', name: 'TransactionInactiveError' }];
    expect(await commit(2, 1)).toBe(true);
    expect(await generation()).toBe(2);
  });

  it('UnknownError of a write leads to one write, whatever the first outcome', async () => {
    for (let id = 2; id < 10; id++) {
      engine.faults = [{ at: 'request', name: 'UnknownError' }];
      expect(await commit(id, id - 1, id % 2 ? 1000 : 50_000)).toBe(true);
    }
    expect(await generation()).toBe(9);
  });

  for (const end of ['made', 'undone'] as const) {
    it(`a commit that was ${end} when its connection was lost takes effect once`, async () => {
      for (const [id, length] of [
        [2, 1000],
        [3, 50_000],
      ] as const) {
        engine.lostCommit = end;
        expect(await commit(id, id - 1, length)).toBe(true);
        expect(await generation()).toBe(id);
      }
      expect(engine.happened.lostConnections).toBe(2);
    });
  }

  it('UnknownError that lasts becomes storage, and no dead connection is kept', async () => {
    const fault = { at: 'request', name: 'UnknownError' } as const;
    engine.faults = [fault, fault, fault, fault];
    await expect(store.load()).rejects.toMatchObject({
      code: 'unavailable',
      detail: 'storage',
      retryable: true,
    });
    expect(await generation()).toBe(1);
    expect(engine.happened.openings).toBe(5);
  });

  it('another error is reported unchanged, without another connection', async () => {
    engine.faults = [{ at: 'request', name: 'DataError' }];
    await expect(store.load()).rejects.toMatchObject({ code: 'unavailable', detail: 'storage' });
    expect(engine.happened.openings).toBe(1);
  });
});

describe('an interrupted call', () => {
  beforeEach(async () => {
    start('firefox');
    store = await idb().open('a');
  });

  it('of a deletion leaves a ref that moves on, and the next deletion ends it', async () => {
    await commit(1, 0);
    await commit(2, 1);
    // After the first step, generation 2 has two records.
    let steps = 0;
    engine.onBegin = ({ mode }) => {
      if (mode === 'readwrite' && ++steps === 2)
        engine.faults = [{ at: 'request', name: 'DataError' }];
    };
    await expect(store.delete([2])).rejects.toMatchObject({
      code: 'unavailable',
      detail: 'storage',
    });
    engine.onBegin = undefined;
    expect(keysOf('refs')).toContainEqual(['main', 2]);
    expect(keysOf('refs')).toContainEqual(['main', 2, 2]);
    expect((await store.history('main')).map((move) => move.generation)).toEqual([2, 1]);
    expect(await commit(3, 1)).toBe(false);
    expect(await commit(3, 2)).toBe(true);
    await store.delete([2]);
    expect((await store.load()).ids).toEqual([1, 3]);
    expect((await store.history('main')).map((move) => move.generation)).toEqual([3, 2, 1]);
  });

  it('of a write leaves segments without a table, which the next deletion removes', async () => {
    await commit(1, 0, 100_000);
    engine.stored(DATABASE)?.get('segments')?.put(77, new Uint8Array(100));
    expect((await store.load()).ids).toEqual([1]);
    await store.delete([99]);
    expect(keysOf('segments')).toEqual([1]);
  });
});
