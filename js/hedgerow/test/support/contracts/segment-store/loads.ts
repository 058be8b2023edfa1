/** A load returns everything that was written. */
import { batch, bytes, generationOf, idsOf, move, segment } from './records.js';
import { type ContractCase, fact } from './scene.js';

export const loads: readonly ContractCase[] = [
  fact('a new store is empty', async ({ open, equal }) => {
    const store = await open();
    equal(await store.load(), { refs: [], tables: [], ids: [] }, 'loaded');
    equal(await store.read([]), [], 'nothing read');
  }),

  fact('a write is seen by this handle, by another, and after reopening', async (scene) => {
    const { open, equal, same } = scene;
    const first = await open();
    const second = await open();
    equal(await first.write(batch([segment(1)], move(0, 9))), true, 'written');
    await first.close();
    for (const store of [second, await open()]) {
      const { refs, tables } = await store.load();
      equal(refs.length, 1, 'refs');
      const [ref] = refs;
      equal([ref?.name, ref?.generation, ref?.format], ['main', 1, 1], 'ref');
      same(ref?.commitBytes, bytes(32, 9), 'commit');
      equal(
        Object.keys(ref ?? {})
          .sort()
          .join(),
        'commitBytes,format,generation,name',
        'members',
      );
      equal(tables.length, 1, 'tables');
      same(tables[0]?.tableBytes, segment(1).tableBytes, 'table');
      same((await store.read([1]))[0], segment(1).segmentBytes, 'segment');
    }
  }),

  fact('both durabilities write, and an empty write is done at once', async (scene) => {
    const store = await scene.open();
    for (const [id, durability] of [[1, 'relaxed'] as const, [2, 'strict'] as const]) {
      const done = await store.write({ segments: [segment(id)], durability });
      scene.equal(done, true, durability);
    }
    scene.equal(await store.write(batch([])), true, 'empty');
    scene.equal(await store.write(batch([], move(0))), true, 'only a move');
    scene.equal(idsOf(await store.load()), [1, 2], 'tables');
  }),

  fact('load leaves out known tables and orders the rest by number', async (scene) => {
    const { open, equal, same } = scene;
    const store = await open();
    await store.write(
      batch(
        [10, 9, 100, 1, 2].map((id) => segment(id)),
        move(0),
      ),
    );
    const all = await store.load();
    equal(idsOf(all), [1, 2, 9, 10, 100], 'all');
    equal(idsOf(await store.load(new Set())), [1, 2, 9, 10, 100], 'nothing known');
    const some = await store.load(new Set([2, 100, 555]));
    equal(idsOf(some), [1, 9, 10], 'some known');
    for (const { id, tableBytes } of some.tables) {
      same(tableBytes, segment(id).tableBytes, `table ${id}`);
    }
    const none = await store.load(new Set(idsOf(all)));
    equal([idsOf(none), generationOf(none)], [[], 1], 'all known');
  }),

  fact('load gives at least the segments since a move', async (scene) => {
    const { equal } = scene;
    const store = await scene.open();
    await store.write(batch([segment(1)], move(0)));
    await store.write(batch([segment(2)], move(1)));
    await store.write(batch([segment(3)]));
    await store.write(batch([segment(4)], move(2)));
    const since = await store.load(new Set([1, 2]), [{ name: 'main', generation: 2 }]);
    equal([idsOf(since), generationOf(since)], [[3, 4], 3], 'since the second');
    const last = await store.load(new Set([1, 2, 3, 4]), [{ name: 'main', generation: 3 }]);
    equal([idsOf(last), generationOf(last)], [[], 3], 'since the last');
  }),

  fact('a load since no move at all gives everything', async (scene) => {
    const { equal } = scene;
    const store = await scene.open();
    await store.write(batch([segment(1), segment(2, 100_000)], move(0)));
    await store.write(batch([segment(3)], move(0, 5, 'other')));
    const { refs, tables } = await store.load(undefined, []);
    equal(idsOf({ tables }), [1, 2, 3], 'segments');
    equal(refs.map(({ name }) => name).sort(), ['main', 'other'], 'refs');
  }),

  fact('a load since the moves of several refs finds the segments of each ref', async (scene) => {
    const { equal } = scene;
    const store = await scene.open();
    for (const [at, name] of ['b', 'd', 'main'].entries()) {
      await store.write(batch([segment(10 * at)], move(0, at, name)));
      await store.write(batch([segment(10 * at + 1)], move(1, at, name)));
    }
    const known = new Set([0, 1, 10, 11, 20, 21]);
    const since = ['main', 'b', 'd'].map((name) => ({ name, generation: 2 }));
    equal(idsOf(await store.load(known, since)), [], 'nothing new');
    // New refs sort before, between and behind the known refs, some of which move.
    for (const [at, name] of ['a', 'c', 'z'].entries()) {
      await store.write(batch([segment(30 + at)], move(0, at, name)));
    }
    await store.write(batch([segment(40)], move(2, 1, 'b')));
    await store.write(batch([segment(41, 100_000)], move(2, 1, 'main')));
    const loaded = await store.load(known, since);
    equal(idsOf(loaded), [30, 31, 32, 40, 41], 'segments');
    equal(
      loaded.refs.map(({ name, generation }) => [name, generation]).sort(),
      [
        ['a', 1],
        ['b', 3],
        ['c', 1],
        ['d', 2],
        ['main', 3],
        ['z', 1],
      ],
      'refs',
    );
  }),

  fact('a load names all stored segments, also the known ones', async ({ open, equal }) => {
    const store = await open();
    await store.write(batch([segment(5), segment(2)], move(0)));
    await store.write(batch([segment(9)], move(1)));
    const { tables, ids } = await store.load(new Set([5, 7]));
    equal(idsOf({ tables }), [2, 9], 'tables');
    equal(ids, [2, 5, 9], 'ids');
  }),
];
