/** Handles and stores: how they are opened, closed and destroyed. */
import { HedgerowError } from '../../../../src/base/errors.js';
import { kindOf } from '../../error-kind.js';
import { batch, bytes, generationOf, idsOf, move, segment } from './records.js';
import { type ContractCase, fact } from './scene.js';

export const handles: readonly ContractCase[] = [
  fact('an open that must find its store creates no store', async (scene) => {
    const { storage, name, equal, open } = scene;
    const find = async () => {
      const handle = await storage.open(name, { mustExist: true });
      await handle.close();
    };
    const codeOf = (call: Promise<unknown>) =>
      call.then(
        () => 'none',
        (error: unknown) => (error instanceof HedgerowError ? kindOf(error) : String(error)),
      );
    equal(await codeOf(find()), 'not-found/store', 'no store');
    equal(await codeOf(find()), 'not-found/store', 'still no store');
    const store = await open();
    equal(await codeOf(find()), 'none', 'a new store');
    await store.close();
    equal(await codeOf(find()), 'none', 'a closed store');
    await storage.destroy(name);
    equal(await codeOf(find()), 'not-found/store', 'a deleted store');
  }),

  fact('a handle hears once that its store is gone', async ({ storage, name, equal, closed }) => {
    let told = 0;
    const handle = await storage.open(name, { onGone: () => told++ });
    const done = await storage.open(name, { onGone: () => told++ });
    await done.close();
    equal(told, 0, 'at closing');
    await storage.destroy(name);
    await closed(handle.load(), 'load');
    await closed(handle.history('main'), 'history');
    equal(told, 1, 'when it is deleted');
    await handle.close();
    await storage.destroy(name);
    equal(told, 1, 'when there is nothing to delete');
  }),

  fact('close is idempotent, and later calls fail with closed', async ({ open, closed }) => {
    const store = await open();
    const other = await open();
    await Promise.all([store.close(), store.close()]);
    await store.close();
    await closed(store.load(), 'load');
    await closed(store.reserve(), 'reserve');
    await closed(store.read([1]), 'read');
    await closed(store.read([]), 'read of nothing');
    await closed(store.write(batch([segment(1)])), 'write');
    await closed(store.write(batch([])), 'empty write');
    await closed(store.delete([1]), 'delete');
    await closed(store.history('main'), 'history');
    await other.load();
  }),

  fact('calls under way at close settle, and a write is whole', async ({ open, equal }) => {
    const store = await open();
    await store.write(batch([segment(1)], move(0)));
    const calls = [
      store.write(batch([segment(2, 1 << 18), segment(3)], move(1))),
      store.read([1]),
      store.load(),
      store.reserve(),
      store.delete([1]),
    ];
    const settled = Promise.allSettled(calls);
    await store.close();
    const [write] = await settled;
    const loaded = await (await open()).load();
    const whole = [generationOf(loaded), idsOf(loaded).filter((id) => id !== 1)];
    const wrote = write?.status === 'fulfilled' && write.value === true;
    equal(whole, wrote ? [2, [2, 3]] : [1, []], 'state');
  }),

  fact('destroy leaves an empty store, and accepts a missing one', async (scene) => {
    const { open, storage, name, equal } = scene;
    const store = await open();
    await store.write(batch([segment(1)], move(0)));
    await store.reserve();
    await store.close();
    await storage.destroy(name);
    await storage.destroy(name);
    const again = await open();
    equal(await again.load(), { refs: [], tables: [], ids: [] }, 'loaded');
    equal(await again.read([1]).then(([one]) => one === undefined), true, 'segment');
    equal(await again.reserve(), 1, 'first number');
  }),

  fact('a handle open at destroy never reaches the next store', async (scene) => {
    const { open, storage, name, equal, closed } = scene;
    const old = await open();
    await old.write(batch([segment(1)], move(0)));
    // An adapter may refuse to delete under an open handle.
    const deleted = await storage.destroy(name).then(
      () => true,
      (error: unknown) => {
        if (error instanceof HedgerowError && error.code === 'blocked') return false;
        throw error;
      },
    );
    if (!deleted) return;
    await closed(old.load(), 'load');
    await closed(old.write(batch([segment(2)], move(1))), 'write');
    equal(await (await open()).load(), { refs: [], tables: [], ids: [] }, 'next store');
    await closed(old.read([1]), 'read');
  }),

  fact('stores with similar or odd names are separate', async ({ storage, name, equal, same }) => {
    const odd = [
      '',
      'a-b',
      'a_b',
      'a/b',
      'a\\b',
      'a b',
      'A-B',
      '..',
      '🌿',
      '__proto__',
      '%2F',
      'é',
    ];
    // Composed and decomposed forms look the same.
    const names = [...odd, 'e\u0301', 'x'.repeat(200)].map((one) => `${name}/${one}`);
    // An empty name and the name of a member of every object are ordinary names.
    names.push('', '__proto__');
    for (const one of names) await storage.destroy(one);
    const stores = await Promise.all(names.map((one) => storage.open(one)));
    for (const [i, store] of stores.entries()) {
      equal(await store.write(batch([segment(i)], move(0, i))), true, names[i] ?? '');
    }
    for (const [i, store] of stores.entries()) {
      const loaded = await store.load();
      equal(idsOf(loaded), [i], `tables of ${names[i]}`);
      same(loaded.refs[0]?.commitBytes, bytes(32, i), `ref of ${names[i]}`);
      await store.close();
    }
    const [, first = '', second = ''] = names;
    await storage.destroy(first);
    const kept = await storage.open(second);
    equal(idsOf(await kept.load()), [2], 'a store beside a destroyed one');
    await kept.close();
    for (const one of names) await storage.destroy(one);
  }),
];
