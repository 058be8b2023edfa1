/** The sizes of levels, unpacked and stored, equal a walk over the chunks in storage. */
import { describe, expect, it } from 'vitest';
import { type Chunk, chunkOf } from '../../../../inspector/src/model/chunk-parser.js';
import type { LevelStats } from '../../../src/engine/read/store-stats.js';
import { memory, open } from '../../../src/index.js';
import { collectOnDemand } from '../../support/collect-on-demand.js';
import { type WatchedStorage, watched } from '../../support/doubles/watched-storage.js';
import type { Entry } from '../../support/models/store-model.js';
import { noise } from '../../support/noise.js';
import { random } from '../../support/random.js';
import { chunkIn, chunksOf } from '../../support/stored-chunks.js';
import { keyOf, lazy, published } from '../../support/worlds/lazy-devices.js';

interface Held {
  readonly chunk: Chunk;
  readonly storedBytes: number;
}

const ROWS = 5000;
const keyFor = (at: number) => `row/${String(at).padStart(5, '0')}`;
const rows = (textOf: (at: number) => string): Entry[] =>
  Array.from({ length: ROWS }, (_, at) => [keyFor(at), { n: at % 50, text: textOf(at) }]);
const repeated = (at: number) => `${at} `.repeat(60);

const sum = (values: Iterable<number>) => [...values].reduce((all, value) => all + value, 0);
const storedIn = (held: Iterable<{ readonly storedBytes: number }>) =>
  sum([...held].map(({ storedBytes }) => storedBytes));

/** Returns all chunks in storage, by their hashes; of several copies, the copy in the newest segment. */
function heldIn({ stored }: WatchedStorage): Map<string, Held> {
  const held = new Map<string, Held>();
  for (const [, segment] of [...stored].sort(([a], [b]) => a - b)) {
    for (const place of chunksOf(segment)) {
      const bytes = chunkIn(segment.segmentBytes, place);
      if (bytes === undefined) continue;
      held.set(place.hash, { chunk: chunkOf(bytes), storedBytes: place.end - place.start });
    }
  }
  return held;
}

function find(held: ReadonlyMap<string, Held>, hash: string): Held {
  const found = held.get(hash);
  if (found === undefined) throw new Error(`no segment has ${hash}`);
  return found;
}

/** Returns the levels of the tree under a node. */
function levelsOf(held: ReadonlyMap<string, Held>, root: string): LevelStats[] {
  const levels: LevelStats[] = [];
  let hashes = [root];
  for (;;) {
    const nodes = hashes.map((hash) => find(held, hash));
    const sizes = nodes.map(({ chunk }) => chunk.bytes);
    const level = nodes[0]?.chunk.level ?? 0;
    levels.push({
      level,
      nodes: nodes.length,
      bytes: sum(sizes),
      storedBytes: storedIn(nodes),
      minBytes: Math.min(...sizes),
      maxBytes: Math.max(...sizes),
    });
    if (level === 0) return levels;
    hashes = nodes.flatMap(({ chunk }) => chunk.names.map(({ hash }) => hash));
  }
}

/** Returns all chunks that a commit reaches, without chunks of sum trees. */
function reached(held: ReadonlyMap<string, Held>, root: string): Held[] {
  const found = new Map<string, Held>();
  const waiting = [root];
  for (let hash = waiting.pop(); hash !== undefined; hash = waiting.pop()) {
    if (found.has(hash)) continue;
    const one = find(held, hash);
    found.set(hash, one);
    waiting.push(...one.chunk.names.map(({ hash }) => hash));
  }
  return [...found.values()];
}

describe('the levels in stats()', () => {
  it.each([
    ['packed', repeated],
    ['not packed', (at: number) => noise(at, 300)],
  ])('have the sizes of their nodes, where leaves are %s', async (name, textOf) => {
    const storage = watched(memory());
    const db = await open('test', { storage });
    await db.putMany(rows(textOf));
    const { levels, liveBytes, storedBytes } = await db.health.stats();
    const held = heldIn(storage);
    const commit = find(held, db.root);
    const [tree] = commit.chunk.trees;
    expect(levels).toEqual(levelsOf(held, tree?.root ?? ''));
    for (const level of levels) {
      expect(level.storedBytes).toBeGreaterThan(0);
      expect(level.storedBytes).toBeLessThanOrEqual(level.bytes);
    }
    const leaves = levels.at(-1);
    const share = (leaves?.storedBytes ?? 0) / (leaves?.bytes ?? 0);
    if (name === 'packed') expect(share).toBeLessThan(0.5);
    else expect(share).toBeGreaterThan(0.8);
    expect(liveBytes).toBe(storedIn(levels) + commit.storedBytes);
    expect(liveBytes).toBeLessThanOrEqual(storedBytes);
  });

  it('are all live bytes, together with the commit, the indexes and the large values', async () => {
    // The replaced chunks stay.
    collectOnDemand();
    const storage = watched(memory());
    const indexes = { byN: { path: '/n' }, byText: { path: ['/n', '/text'] } };
    const db = await open('test', { storage, indexes });
    await db.putMany(rows((at) => `text ${at}`));
    await db.put('large', random(1).bytes(200_000));
    await db.put('one-piece', random(2).bytes(20_000));
    for (let at = 0; at < ROWS; at += 500) await db.put(keyFor(at), { n: 7, text: 'changed' });
    const draft = await db.branches.open('draft');
    await draft.put('draft', random(3).bytes(100_000));
    const { levels, liveBytes, storedBytes } = await db.health.stats();
    const held = heldIn(storage);
    const commit = find(held, db.root);
    const others = commit.chunk.trees.filter(({ name }) => name !== 'r');
    expect(others).toHaveLength(2);
    const parts = {
      rows: storedIn(levels),
      indexes: sum(others.map(({ root }) => storedIn(levelsOf(held, root)))),
      commit: commit.storedBytes,
      values: storedIn(reached(held, db.root).filter(({ chunk: { kind } }) => kind === 'other')),
    };
    expect(liveBytes).toBe(sum(Object.values(parts)));
    for (const part of Object.values(parts)) expect(part).toBeGreaterThan(0);
    expect(parts.values).toBeGreaterThan(220_000);
    expect(liveBytes).toBe(storedIn(reached(held, db.root)));
    expect(liveBytes).toBeLessThan(storedBytes - 100_000);
  });

  it('count rows alone: the live bytes include indexes and sum trees, which are in no level', async () => {
    const [plain, full] = await Promise.all(
      [{}, { indexes: { byN: { path: '/n' } }, advanced: { sums: { total: { sum: '/n' } } } }].map(
        async (definitions) => {
          const db = await open('test', { storage: memory(), ...definitions });
          await db.putMany(rows(repeated));
          return db.health.stats();
        },
      ),
    );
    expect(full?.levels).toEqual(plain?.levels);
    // A leaf of a sum tree has a path and a hash, which are not packed.
    expect(full?.liveBytes).toBeGreaterThan((plain?.liveBytes ?? 0) + 64 * ROWS);
  });

  it('count only local chunks as stored in a lazy clone', async () => {
    const { remote, from } = await published(60_000);
    const storage = watched(memory());
    const { db } = await lazy(remote, storage);
    await db.get(keyOf(10_000));
    const { levels, liveBytes } = await db.health.stats();
    const [leaves, whole] = [levels.at(-1), (await from.health.stats()).levels.at(-1)];
    expect(leaves?.storedBytes).toBeGreaterThan(0);
    expect(leaves?.storedBytes).toBeLessThan((whole?.storedBytes ?? 0) / 2);
    expect(leaves?.nodes).toBeLessThanOrEqual(whole?.nodes ?? 0);
    const commit = find(heldIn(storage), db.root);
    expect(liveBytes).toBe(storedIn(levels) + commit.storedBytes);
    await db.close();
  });
});
