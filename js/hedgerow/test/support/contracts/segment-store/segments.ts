/** Segments: their bytes, their ids, and how they are deleted. */
import { batch, bytes, generationOf, idsOf, LARGEST_ID, move, segment } from './records.js';
import { type ContractCase, fact } from './scene.js';

export const segments: readonly ContractCase[] = [
  fact('read answers in the requested order, with undefined for unknown ids', async (scene) => {
    const store = await scene.open();
    await store.write(batch([segment(1), segment(2), segment(3)]));
    const ids = [3, 77, 1, 3, 0];
    const found = await store.read(ids);
    scene.equal(
      found.map((one) => one !== undefined),
      [true, false, true, true, false],
      'found',
    );
    for (const i of [0, 2, 3]) {
      scene.same(found[i], segment(ids[i] ?? 0).segmentBytes, `place ${i}`);
    }
  }),

  fact('parts of segments are read as they are asked for', async ({ open, equal, same }) => {
    const store = await open();
    const lengths = [0, 1000, 64 << 10, 200_000, (512 << 10) + 5];
    const stored = lengths.map((length, at) => segment(at + 1, length));
    await store.write(batch(stored.slice(0, 1)));
    await store.write(batch([stored[1]!], move(0)));
    await store.write(batch(stored.slice(2), move(1)));
    const ranges = [
      [0, 1],
      [5, 300],
      [999, 1000],
      [65_535, 65_537],
      [0, 131_072],
      [65_536, 200_000],
      [199_999, 200_005],
      [300_000, 600_000],
    ];
    const other = await open();
    await other.load();
    for (const handle of [store, other]) {
      const parts = stored.flatMap(({ id }) =>
        ranges.map(([from = 0, to = 0]) => ({ id, from, to })),
      );
      const found = await handle.read([2, ...parts, { id: 77, from: 0, to: 9 }, 5]);
      for (const [at, { id, from, to }] of parts.entries()) {
        const expected = stored[id - 1]!.segmentBytes.slice(from, to);
        same(found[at + 1], expected, `${from} to ${to} of ${id}`);
        equal(found[at + 1]?.buffer.byteLength, expected.length, 'buffer');
      }
      equal(found[parts.length + 1], undefined, 'part of an unknown segment');
      same(found[0], stored[1]!.segmentBytes, 'a whole one before');
      same(found[parts.length + 2], stored[4]!.segmentBytes, 'a whole one after');
    }
    const part = { id: 4, from: 70_000, to: 70_010 };
    await store.delete([4]);
    equal(await store.read([part, 4, part]), [undefined, undefined, undefined], 'deleted');
  }),

  fact('bytes handed out belong to the caller', async ({ open, assert, same }) => {
    const store = await open();
    await store.write(batch([segment(1)], move(0, 3)));
    const [first, second] = await store.read([1, 1]);
    assert(first?.buffer !== second?.buffer, 'two reads share a buffer');
    const { refs, tables } = await store.load();
    for (const part of [first, tables[0]?.tableBytes, refs[0]?.commitBytes]) part?.fill(0);
    same((await store.read([1]))[0], segment(1).segmentBytes, 'segment');
    const again = await store.load();
    same(again.tables[0]?.tableBytes, segment(1).tableBytes, 'table');
    same(again.refs[0]?.commitBytes, bytes(32, 3), 'commit');
  }),

  fact('a view is stored without the buffer around it', async ({ open, equal, same }) => {
    const store = await open();
    const around = bytes(1 << 16, 4);
    const view = (from: number, to: number) => around.subarray(from, to);
    const given = { id: 1, segmentBytes: view(1000, 1500), tableBytes: view(7, 20) };
    await store.write(batch([given], { ...move(0), commitBytes: view(64, 96) }));
    const [read] = await store.read([1]);
    same(read, given.segmentBytes, 'segment');
    const { refs, tables } = await store.load();
    same(tables[0]?.tableBytes, given.tableBytes, 'table');
    same(refs[0]?.commitBytes, view(64, 96), 'commit');
    const parts = [read, tables[0]?.tableBytes, refs[0]?.commitBytes];
    equal(
      parts.map((part) => part?.buffer.byteLength),
      [500, 13, 32],
      'buffers',
    );
  }),

  fact('a store takes empty and large segments, and the largest ids', async (scene) => {
    const { open, equal, same } = scene;
    const store = await open();
    const empty = { id: 3, segmentBytes: new Uint8Array(), tableBytes: new Uint8Array() };
    const large = { ...segment(LARGEST_ID, 1 << 20), tableBytes: bytes(1 << 17, 8) };
    await store.write(batch([large, empty, segment(LARGEST_ID - 1, (1 << 18) + 1)]));
    const { tables } = await store.load();
    equal(
      tables.map(({ id }) => id),
      [3, LARGEST_ID - 1, LARGEST_ID],
      'ids',
    );
    same(tables[0]?.tableBytes, empty.tableBytes, 'empty table');
    same(tables[2]?.tableBytes, large.tableBytes, 'large table');
    const found = await store.read([LARGEST_ID, 3, LARGEST_ID - 1]);
    same(found[0], large.segmentBytes, 'large segment');
    same(found[1], empty.segmentBytes, 'empty segment');
    same(found[2], bytes((1 << 18) + 1, LARGEST_ID - 1), 'odd length');
  }),

  fact('many segments, written in one call and in many at once', async (scene) => {
    const store = await scene.open();
    const upTo = (from: number) => Array.from({ length: 500 }, (_, i) => segment(from + i));
    await store.write(batch(upTo(1)));
    await Promise.all(upTo(501).map((one) => store.write(batch([one]))));
    scene.equal(await store.write(batch([], move(0))), true, 'move');
    const ids = idsOf(await store.load());
    scene.equal([ids.length, ids[0], ids[999]], [1000, 1, 1000], 'tables');
    const found = await store.read(ids);
    for (const id of ids) scene.same(found[id - 1], segment(id).segmentBytes, `segment ${id}`);
  }),

  fact('reserve never gives a number twice', async ({ open, storage, name, equal }) => {
    const [first, second] = [await open(), await open()];
    equal(await first.reserve(), 1, 'first number');
    const given = await Promise.all([first, second, first, second].map((s) => s.reserve()));
    equal([...given].sort(), [2, 3, 4, 5], 'across handles');
    await first.write(batch([segment(3)], move(0)));
    await first.close();
    await second.close();
    equal(await (await open()).reserve(), 6, 'after reopening');
    const other = `${name}/other`;
    await storage.destroy(other);
    const apart = await storage.open(other);
    equal(await apart.reserve(), 1, 'in another store');
    await apart.close();
    await storage.destroy(other);
  }),

  fact('delete removes segments that moves have carried, and the refs stay', async (scene) => {
    const { open, equal, same } = scene;
    const store = await open();
    await store.write(batch([segment(1), segment(2), segment(3)], move(0)));
    // Where an adapter can, the move carries this segment.
    await store.write(batch([segment(4)], move(1)));
    await store.write(batch([segment(5)], move(2)));
    await store.write(batch([segment(6)]));
    await store.delete([1, 3, 4, 99]);
    for (const handle of [store, await open()]) {
      equal((await handle.load()).ids, [2, 5, 6], 'ids');
      equal(generationOf(await handle.load()), 3, 'generation');
      const found = await handle.read([1, 2, 4, 6]);
      equal(
        found.map((bytes) => bytes !== undefined),
        [false, true, false, true],
        'segments',
      );
      same(found[3], segment(6).segmentBytes, 'the one that stays');
    }
    await store.delete([2, 5]);
    await store.delete([2, 5]);
    equal(await store.write(batch([segment(8)], move(3, 7))), true, 'the ref moves on');
    const { ids, refs } = await (await open()).load();
    equal(ids, [6, 8], 'ids after it');
    same(refs[0]?.commitBytes, bytes(32, 7), 'commit');
    equal(
      (await store.history('main')).map(({ generation }) => generation),
      [4, 3, 2, 1],
      'history',
    );
  }),

  fact('delete removes only the given segments, with their tables', async (scene) => {
    const { open, equal } = scene;
    const store = await open();
    await store.write(batch([segment(1), segment(2), segment(3)], move(0)));
    await store.delete([]);
    await store.delete([1, 3, 99]);
    const loaded = await (await open()).load();
    equal([idsOf(loaded), generationOf(loaded)], [[2], 1], 'loaded');
    const found = await store.read([1, 2, 3]);
    equal(
      found.map((one) => one !== undefined),
      [false, true, false],
      'segments',
    );
  }),

  fact('a deletion with a fence has no effect unless the ref is there', async (scene) => {
    const { open, equal } = scene;
    const store = await open();
    const first = { ...move(0), name: 'fence' };
    const second = {
      ...first,
      ...move(1),
      name: 'fence',
      commitBytes: first.commitBytes.map(() => 7),
    };
    equal(await store.delete([1], first), false, 'without such a ref');
    await store.write(batch([segment(1), segment(2), segment(3)], first));
    equal(await store.delete([1], second), false, 'at another place');
    equal(idsOf(await (await open()).load()), [1, 2, 3], 'all are there');
    equal(await store.delete([1], first), true, 'where it stands');
    await store.write(batch([], second));
    equal(await store.delete([2], first), false, 'where it stood');
    equal(await store.delete([2], second), true, 'where it stands now');
    equal(idsOf(await (await open()).load()), [3], 'the rest is there');
  }),
];
