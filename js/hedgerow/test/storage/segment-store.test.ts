import { afterEach, assert, describe, expect, it, vi } from 'vitest';
import { HedgerowError } from '../../src/base/errors.js';
import { memory as fresh } from '../../src/index.js';
import { idb } from '../../src/storage/idb/idb.js';
import { memory } from '../../src/storage/memory.js';
import type { Storage } from '../../src/storage/segment-store.js';
import { segmentStoreContract } from '../support/contracts/segment-store-contract.js';
import { type Fault, faulty } from '../support/doubles/faulty-storage.js';

const storages: readonly [string, () => Storage][] = [
  ['memory()', memory],
  ['faulty(memory()) without faults', () => faulty(memory())],
  // In browsers: see `browser/memory.ts`.
  ...(fresh === memory ? [] : [['idb()', fresh] satisfies [string, unknown]]),
];

for (const [title, make] of storages) {
  describe(title, () => {
    for (const { name, run } of segmentStoreContract) it(name, () => run(make(), assert));

    it('passes the whole contract twice on one value', async () => {
      const storage = make();
      for (const { run } of [...segmentStoreContract, ...segmentStoreContract]) {
        await run(storage, assert);
      }
    });
  });
}

describe('memory()', () => {
  it('returns a separate world', async () => {
    const [one, other] = [memory(), memory()];
    const store = await one.open('a');
    await store.write({ segments: [], move: moveFrom(0), durability: 'relaxed' });
    expect((await (await other.open('a')).load()).refs).toEqual([]);
    expect((await (await one.open('a')).load()).refs).toHaveLength(1);
  });
});

describe('idb()', () => {
  afterEach(() => void vi.unstubAllGlobals());

  it('loads without IndexedDB, and fails with a typed error', async () => {
    vi.stubGlobal('indexedDB', undefined);
    const storage = idb();
    for (const call of [storage.open('a'), storage.destroy('a')]) {
      await expect(call).rejects.toMatchObject({ name: 'HedgerowError', code: 'unsupported' });
    }
  });
});

describe('faulty()', () => {
  const error = new HedgerowError('unavailable/disconnected', 'for a test');
  const before = { when: 'before', error } as const;
  const after = { when: 'after', error } as const;

  it('counts calls of each kind, failed ones too', async () => {
    const storage = faulty(memory(), { ...before, call: 'reserve', at: 2 });
    const store = await storage.open('a');
    await store.reserve();
    await expect(store.reserve()).rejects.toBe(error);
    await store.load();
    await store.read([1]);
    await store.delete([1]);
    await store.close();
    await storage.destroy('a');
    expect(storage.calls('reserve')).toBe(2);
    expect(storage.calls('write')).toBe(0);
    expect(storage.calls()).toBe(8);
  });

  it('fails before a call takes effect, once', async () => {
    const store = await faulty(memory(), { ...before, call: 'write', at: 1 }).open('a');
    await expect(store.write(firstMove)).rejects.toBe(error);
    expect((await store.load()).refs).toEqual([]);
    expect(await store.write(firstMove)).toBe(true);
  });

  it('fails after a call took effect, once', async () => {
    const store = await faulty(memory(), { ...after, call: 'write', at: 1 }).open('a');
    await expect(store.write(firstMove)).rejects.toBe(error);
    expect((await store.load()).refs).toHaveLength(1);
    expect(await store.write(firstMove)).toBe(false);
  });

  it('fails from a call on, until healed', async () => {
    const storage = faulty(memory());
    const store = await storage.open('a');
    storage.fail({ ...before, call: 'reserve', at: 2, lasting: true });
    expect(await store.reserve()).toBe(1);
    await expect(store.reserve()).rejects.toBe(error);
    await expect(store.reserve()).rejects.toBe(error);
    expect((await store.load()).tables).toEqual([]);
    storage.heal();
    expect(await store.reserve()).toBe(2);
  });

  it('counts calls of every kind when no kind is given', async () => {
    const faults: Fault[] = [
      { ...before, at: 1 },
      { ...after, at: 3 },
    ];
    const storage = faulty(memory(), ...faults);
    await expect(storage.open('a')).rejects.toBe(error);
    const store = await storage.open('a');
    await expect(store.reserve()).rejects.toBe(error);
    expect(await store.reserve()).toBe(2);
  });
});

const firstMove = { segments: [], move: moveFrom(0), durability: 'relaxed' } as const;

function moveFrom(expected: number) {
  const commitBytes = new Uint8Array(32);
  return { name: 'main', expected, generation: expected + 1, commitBytes, format: 1 };
}
