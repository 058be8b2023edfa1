/** Refs: how they move, how they are deleted, and their history. */
import { MAX_HISTORY, MIN_HISTORY } from '../../../../src/base/limits.js';
import { batch, bytes, generationOf, idsOf, move, segment } from './records.js';
import { type ContractCase, fact } from './scene.js';

export const refs: readonly ContractCase[] = [
  fact('a ref moves from 0 once, and then from its generation', async ({ open, equal }) => {
    const store = await open();
    equal(await store.write(batch([], move(1))), false, 'a ref that does not exist');
    equal(await store.write(batch([], move(0))), true, 'first move');
    equal(await store.write(batch([], move(0))), false, 'first move again');
    equal(await store.write(batch([], move(1))), true, 'second move');
    equal(await store.write(batch([], move(1))), false, 'stale');
    equal(await store.write(batch([], move(9))), false, 'ahead');
    equal(generationOf(await store.load()), 2, 'generation');
  }),

  fact('a refused write has no effect', async ({ open, equal, same }) => {
    const store = await open();
    await store.write(batch([segment(1)], move(0, 5)));
    const changed = { ...segment(2), id: 1 };
    equal(await store.write(batch([changed, segment(7)], move(0, 6))), false, 'refused');
    const { refs, tables } = await store.load();
    equal(idsOf({ tables }), [1], 'tables');
    same(tables[0]?.tableBytes, segment(1).tableBytes, 'table');
    same(refs[0]?.commitBytes, bytes(32, 5), 'commit');
    const [kept, never] = await store.read([1, 7]);
    same(kept, segment(1).segmentBytes, 'segment');
    equal(never === undefined, true, 'segment of the refused write');
    equal(await store.write(batch([segment(7)], move(1))), true, 'and the store goes on');
  }),

  fact('refs are separate, and any string is a name', async ({ open, equal }) => {
    const store = await open();
    const names = ['', '0', 'a/b', 'A/b', '__proto__', 'constructor', '🌿', 'main'];
    for (const [i, name] of names.entries()) {
      equal(await store.write(batch([], move(0, i, name))), true, name);
    }
    await store.reserve();
    equal(await store.write(batch([], move(1, 0, 'main'))), true, 'moved');
    const { refs } = await (await open()).load();
    equal(refs.map(({ name }) => name).sort(), [...names].sort(), 'names');
    equal(generationOf({ refs }, '__proto__'), 1, 'another ref');
  }),

  fact('of two handles that race, exactly one wins, whole', async ({ open, equal }) => {
    const stores = [await open(), await open()];
    for (let round = 0; round < 10; round++) {
      const base = round * 2 + 1;
      const won = await Promise.all(
        stores.map((store, i) => store.write(batch([segment(base + i)], move(round, i)))),
      );
      equal([...won].sort(), [false, true], `round ${round}`);
      const winner = base + won.indexOf(true);
      for (const store of stores) {
        const loaded = await store.load();
        equal(
          idsOf(loaded).filter((id) => id >= base),
          [winner],
          'only the winner wrote',
        );
        equal(generationOf(loaded), round + 1, 'generation');
      }
    }
  }),

  fact('a write moves and deletes all of its refs, or leaves all', async (scene) => {
    const { equal, open } = scene;
    const store = await open();
    const drop = (name: string, expected: number) => ({ name, expected, isDropped: true as const });
    const refsOf = async () =>
      (await (await open()).load()).refs.map(({ name, generation }) => [name, generation]).sort();
    await store.write(batch([segment(1)], move(0)));
    const fork = { ...batch([], move(0, 2, 'a')), also: [move(0, 3, 'b'), move(1, 4)] };
    equal(await store.write(fork), true, 'all stand');
    equal(
      await refsOf(),
      [
        ['a', 1],
        ['b', 1],
        ['main', 2],
      ],
      'moved',
    );
    const torn = { ...batch([segment(2)], move(2)), also: [move(1, 3, 'b'), move(0, 9, 'a')] };
    equal(await store.write(torn), false, 'one does not stand');
    equal(await store.write({ ...batch([]), also: [drop('a', 2)] }), false, 'nor what is deleted');
    equal(await store.write({ ...batch([]), also: [drop('c', 1)] }), false, 'or is not there');
    equal(
      await refsOf(),
      [
        ['a', 1],
        ['b', 1],
        ['main', 2],
      ],
      'as before',
    );
    equal(idsOf(await store.load()), [1], 'and no segment');
    const both = { ...batch([segment(3)], move(2)), also: [drop('a', 1), drop('b', 1)] };
    equal(await store.write(both), true, 'with a move');
    equal(await refsOf(), [['main', 3]], 'gone');
    equal(await store.history('a'), [], 'and its history');
    equal(await store.write(batch([], move(1, 1, 'a'))), false, 'a move from where it stood');
    const again = { ...move(0, 5, 'a'), generation: 1000 };
    equal(await store.write(batch([], again)), true, 'a new one, which begins anywhere');
    equal(await store.write(batch([], move(1000, 6, 'a'))), true, 'and goes on');
    equal(
      await refsOf(),
      [
        ['a', 1001],
        ['main', 3],
      ],
      'at the end',
    );
  }),

  fact('segments that came with a ref outlast the ref', async (scene) => {
    const { equal, same, open } = scene;
    const [store, other] = [await open(), await open()];
    const lengths = [100, 100_000, 0, 20_000];
    for (const [at, length] of lengths.entries()) {
      await store.write(batch([segment(at, length)], move(at, at, 'b')));
    }
    // Another handle knows it because a move carried it.
    equal(idsOf(await other.load()), [0, 1, 2, 3], 'before');
    await store.delete([2]);
    const drop = { name: 'b', expected: 4, isDropped: true as const };
    equal(await store.write({ ...batch([]), also: [drop] }), true, 'deleted');
    for (const handle of [store, other, await open()]) {
      equal((await handle.load()).refs, [], 'no ref');
      const found = await handle.read([0, 1, 2, 3, 77]);
      for (const at of [0, 1, 3]) same(found[at], segment(at, lengths[at]).segmentBytes, `${at}`);
      equal([found[2] === undefined, found[4] === undefined], [true, true], 'none else');
      const { tables, ids } = await handle.load();
      equal(ids, [0, 1, 3], 'ids');
      for (const { id, tableBytes } of tables) same(tableBytes, segment(id).tableBytes, `t${id}`);
    }
    await store.delete([0, 3]);
    equal(idsOf(await (await open()).load()), [1], 'deleted in the end');
  }),

  fact('history lists the moves of a ref, newest first', async (scene) => {
    const { open, equal, same } = scene;
    const store = await open();
    equal(await store.history('main'), [], 'before the first move');
    await store.write(batch([], move(0, 70, 'other')));
    // Some moves carry a small segment, one comes with a large segment, some have no segment.
    const written = [[segment(1)], [segment(2, 100_000)], [], [segment(3)], []];
    for (const [at, segments] of written.entries()) {
      equal(await store.write(batch(segments, move(at, 20 + at))), true, `move ${at}`);
    }
    await store.write(batch([segment(4)], move(2, 99)));
    for (const handle of [store, await open()]) {
      const told = await handle.history('main');
      equal(
        told.map(({ name, generation, format }) => [name, generation, format]),
        [5, 4, 3, 2, 1].map((generation) => ['main', generation, 1]),
        'moves',
      );
      for (const { commitBytes, generation } of told) {
        same(commitBytes, bytes(32, 19 + generation), `commit ${generation}`);
        commitBytes.fill(0);
      }
    }
    same((await store.history('main'))[0]?.commitBytes, bytes(32, 24), 'bytes of the caller');
    equal((await store.history('other')).length, 1, 'another ref');
    equal(await store.history('none'), [], 'a ref that does not exist');
  }),

  fact('history is bounded, and reaches back far enough', async (scene) => {
    const { open, equal, assert } = scene;
    const store = await open();
    const check = async (last: number, when: string) => {
      const told = (await store.history('main')).map(({ generation }) => generation);
      const least = Math.min(last, MIN_HISTORY);
      equal(
        told.slice(0, least),
        Array.from({ length: least }, (_, at) => last - at),
        `${when}: the newest`,
      );
      equal(
        told,
        [...new Set(told)].sort((a, b) => b - a),
        `${when}: order`,
      );
      assert(told.length >= least && told.length <= MAX_HISTORY, `${when}: ${told.length} moves`);
      equal(generationOf(await store.load()), last, `${when}: generation`);
    };
    for (let at = 0; at < 70; at++) {
      const segments = at >= 40 && at < 55 ? [segment(at)] : [];
      equal(await store.write(batch(segments, move(at, at))), true, `move ${at}`);
      await check(at + 1, `after move ${at}`);
    }
    await store.delete([40, 41, 54, 99]);
    await check(70, 'after a deletion');
    equal(idsOf(await store.load()).length, 12, 'tables');
    await store.write(batch([segment(70)], move(70)));
    await store.delete([70]);
    await check(71, 'when what the last move carried is deleted');
  }),
];
