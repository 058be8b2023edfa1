/** The core traps while segments wait to be stored: the ids of new segments stay apart from the ids of the earlier ones. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { memory, open } from '../../src/index.js';
import { watched } from '../support/doubles/watched-storage.js';
import { all, type Entry, expectSame, sorted } from '../support/models/store-model.js';
import { isDeep } from '../support/property.js';
import { random } from '../support/random.js';
import { forget, trapIn } from '../support/trapping.js';

const rows = (count: number, bytes: number): Entry[] =>
  Array.from({ length: count }, (_, at) => [
    `k${String(at).padStart(6, '0')}`,
    random(at).bytes(bytes),
  ]);
const pause = () => new Promise((resolve) => setTimeout(resolve, 0));

beforeEach(forget);
afterEach(() => trapIn(Number.POSITIVE_INFINITY));

describe('a trap', () => {
  it('never makes the wrapper use a segment id twice', async () => {
    const storage = watched(memory());
    const db = await open('test', { storage });
    const ids: number[] = [];
    let trapsAfterWrite = false;
    storage.hooks.write = ({ segments }) => {
      ids.push(...segments.map(({ id }) => id));
      if (!trapsAfterWrite || segments.length === 0) return;
      trapsAfterWrite = false;
      trapIn(1);
    };
    const rounds = isDeep ? 30 : 12;
    const large = rows(60, 40_000);
    for (let round = 0; round < rounds; round++) {
      // A third of the loads trap in a step, a third in any call, and a third once a segment of theirs is stored.
      trapsAfterWrite = round % 3 === 2;
      if (!trapsAfterWrite) trapIn(1 + round, round % 3 === 0 ? 'step' : undefined);
      await db.putMany(large).catch(() => {});
      trapsAfterWrite = false;
      trapIn(Number.POSITIVE_INFINITY);
      await db.put('a', round);
      expect(await db.get('a')).toBe(round);
    }
    // Each put stores a segment, and so does every third load.
    expect(ids.length).toBeGreaterThan(rounds);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('never makes the wrapper use the id of a collected segment twice when it is stored late', async () => {
    const storage = watched(memory());
    const db = await open('test', { storage });
    const ids: number[] = [];
    storage.hooks.write = ({ segments }) => {
      ids.push(...segments.map(({ id }) => id));
    };
    let model: Entry[] = [];
    const parts = [0, 1, 2, 3].map((part) => rows(60, 40_000 + part));
    for (let round = 0; round < (isDeep ? 8 : 3); round++) {
      // The collection has segments to copy: it makes them in one turn and hands them over in a later turn.
      for (const part of parts) await db.putMany(part);
      await db.deleteMany({ gte: 'k000030' });
      let isOver = false;
      const collecting = db.health.compact().finally(() => {
        isOver = true;
      });
      for (let at = 0; !isOver; at++) {
        await db.put('a', at);
        model = await all(db);
        // When the segment of the collection comes last, its id is below the id before it.
        const [last = 0, before = 0] = ids.slice().reverse();
        if (last < before) break;
        await pause();
      }
      trapIn(1, 'get');
      await db.get('a').catch(() => {});
      await collecting.catch(() => {});
      for (let at = 0; at < 3; at++) await db.put('b', at);
      expectSame(await all(await open('test', { storage })), sorted([...model, ['b', 2]]));
    }
    expect(new Set(ids).size).toBe(ids.length);
  });
});
