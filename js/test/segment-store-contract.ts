/**
 * What every persistence adapter must do: each sentence of `storage/segment-store.ts` as a case.
 * It uses no test framework, so that Node and a page in a browser can both run it.
 */
import { HedgerowError } from '../src/base/errors.js';
import { MAX_HISTORY, MIN_HISTORY } from '../src/base/limits.js';
import type { Loaded, RefMove, SegmentRecord, WriteBatch } from '../src/storage/segment-store.js';
import { type ContractCase, fact } from './segment-store-scene.js';

export type { Assert, ContractCase } from './segment-store-scene.js';

/** Bytes that tell their seed and their position. */
function bytes(length: number, seed: number): Uint8Array {
  const result = new Uint8Array(length);
  for (let i = 0; i < length; i++) result[i] = seed * 31 + i * 7 + (i >> 8);
  return result;
}

function segment(id: number, length = 100): SegmentRecord {
  return { id, segmentBytes: bytes(length, id), tableBytes: bytes(20, id + 1) };
}

function move(expected: number, seed = 1, name = 'main'): RefMove {
  return { name, expected, generation: expected + 1, commitBytes: bytes(32, seed), format: 1 };
}

function batch(segments: readonly SegmentRecord[], to?: RefMove): WriteBatch {
  return { segments, durability: 'relaxed', ...(to && { move: to }) };
}

function idsOf({ tables }: Pick<Loaded, 'tables'>): number[] {
  return tables.map(({ id }) => id);
}

function generationOf({ refs }: Pick<Loaded, 'refs'>, name = 'main'): number {
  return refs.find((ref) => ref.name === name)?.generation ?? 0;
}

const LARGEST_ID = Number.MAX_SAFE_INTEGER;

export const segmentStoreContract: readonly ContractCase[] = [
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

  fact('a ref moves from 0 once, then from where it stands', async ({ open, equal }) => {
    const store = await open();
    equal(await store.write(batch([], move(1))), false, 'a ref that does not exist');
    equal(await store.write(batch([], move(0))), true, 'first move');
    equal(await store.write(batch([], move(0))), false, 'first move again');
    equal(await store.write(batch([], move(1))), true, 'second move');
    equal(await store.write(batch([], move(1))), false, 'stale');
    equal(await store.write(batch([], move(9))), false, 'ahead');
    equal(generationOf(await store.load()), 2, 'generation');
  }),

  fact('a refused write leaves nothing behind', async ({ open, equal, same }) => {
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

  fact('refs are apart, and any string is a name', async ({ open, equal }) => {
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

  fact('load gives what came since a move, and with a later one at least that', async (scene) => {
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

  fact('load since the moves of several refs finds what came with any ref', async (scene) => {
    const { equal } = scene;
    const store = await scene.open();
    for (const [at, name] of ['b', 'd', 'main'].entries()) {
      await store.write(batch([segment(10 * at)], move(0, at, name)));
      await store.write(batch([segment(10 * at + 1)], move(1, at, name)));
    }
    const known = new Set([0, 1, 10, 11, 20, 21]);
    const since = ['main', 'b', 'd'].map((name) => ({ name, generation: 2 }));
    equal(idsOf(await store.load(known, since)), [], 'nothing new');
    // New refs before, between and behind those that are known, and moves of some of these.
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

  fact('refs are moved and deleted together, or none of them is', async (scene) => {
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

  fact('what came with the moves of a ref stays when the ref is deleted', async (scene) => {
    const { equal, same, open } = scene;
    const [store, other] = [await open(), await open()];
    const lengths = [100, 100_000, 0, 20_000];
    for (const [at, length] of lengths.entries()) {
      await store.write(batch([segment(at, length)], move(at, at, 'b')));
    }
    // Known to another handle, as what a move carried.
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

  fact('read answers in the order asked, with undefined for the unknown', async (scene) => {
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

  fact('segments may be empty or large, and their ids as large as can be', async (scene) => {
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

  fact('a load names all stored segments, those too that are known', async ({ open, equal }) => {
    const store = await open();
    await store.write(batch([segment(5), segment(2)], move(0)));
    await store.write(batch([segment(9)], move(1)));
    const { tables, ids } = await store.load(new Set([5, 7]));
    equal(idsOf({ tables }), [2, 9], 'tables');
    equal(ids, [2, 5, 9], 'ids');
  }),

  fact('segments that moves have carried are deleted, and the refs stay', async (scene) => {
    const { open, equal, same } = scene;
    const store = await open();
    await store.write(batch([segment(1), segment(2), segment(3)], move(0)));
    // Carried by its move, where an adapter has that.
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

  fact('history tells the moves of a ref, newest first', async (scene) => {
    const { open, equal, same } = scene;
    const store = await open();
    equal(await store.history('main'), [], 'before the first move');
    await store.write(batch([], move(0, 70, 'other')));
    // Some carry a small segment, some come with a large one, some with none.
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

  fact('a store is not created when that is not wanted', async (scene) => {
    const { storage, name, equal, open } = scene;
    const find = async () => {
      const handle = await storage.open(name, { mustExist: true });
      await handle.close();
    };
    const codeOf = (call: Promise<unknown>) =>
      call.then(
        () => 'none',
        (error: unknown) => (error instanceof HedgerowError ? error.code : String(error)),
      );
    equal(await codeOf(find()), 'store-not-found', 'no store');
    equal(await codeOf(find()), 'store-not-found', 'still no store');
    const store = await open();
    equal(await codeOf(find()), 'none', 'a new store');
    await store.close();
    equal(await codeOf(find()), 'none', 'a closed store');
    await storage.destroy(name);
    equal(await codeOf(find()), 'store-not-found', 'a deleted store');
  }),

  fact('a handle whose store goes is told once', async ({ storage, name, equal, closed }) => {
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

  fact('delete removes segments with their tables and nothing else', async (scene) => {
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

  fact('a deletion with a fence deletes nothing unless the ref stands there', async (scene) => {
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

  fact('destroy leaves an empty store, and takes a missing one', async (scene) => {
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

  fact('stores with like or odd names are apart', async ({ storage, name, equal, same }) => {
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
    // An empty name and one that is a member of every object, as they are.
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
