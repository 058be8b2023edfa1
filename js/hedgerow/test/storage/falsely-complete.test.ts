/**
 * Firefox may undo a transaction for lack of space and report it complete: an undone write must not count as written.
 */
import { afterEach, describe, expect, it } from 'vitest';
import { idb } from '../../src/storage/idb/idb.js';
import type { RefMove, SegmentStore } from '../../src/storage/segment-store.js';
import { HostileEngine } from '../support/doubles/hostile-idb/engine.js';
import { install } from '../support/doubles/hostile-idb/install.js';
import { kindOf } from '../support/error-kind.js';
import { forSeeds, hasAllSeeds } from '../support/property.js';
import { random } from '../support/random.js';

const SEEDS = 100;
const LENGTH = 500;
const IDS = [2, 3, 4];
/** The bytes of the quota that a segment takes with its table. */
const STORED = LENGTH + 20 + 2 * 64;
/** The move after this many deletes old ones. */
const MOVES = 15;

let engine: HostileEngine;
let uninstall: () => void;
let store: SegmentStore;

afterEach(() => {
  uninstall();
});

const segment = (id: number) => ({
  id,
  segmentBytes: random(id).bytes(LENGTH),
  tableBytes: random(id).bytes(20),
});

function moveFrom(expected: number): RefMove {
  const commitBytes = random(expected).bytes(32);
  return { name: 'main', commitBytes, expected, generation: expected + 1, format: 1 };
}

/** Opens a store of one segment whose ref has moved so often that its next move deletes old ones. */
async function openStore(seed: number): Promise<void> {
  engine = new HostileEngine('firefox', random(seed));
  uninstall = install(engine);
  store = await idb().open('a');
  await store.write({ segments: [segment(1)], move: moveFrom(0), durability: 'relaxed' });
  for (let at = 1; at < MOVES; at++) {
    await store.write({ segments: [], move: moveFrom(at), durability: 'relaxed' });
  }
}

describe('a transaction that is reported complete though its last requests have failed', () => {
  for (const { what, move, room } of [
    { what: 'segments that no ref needs yet', move: undefined, room: 2 * LENGTH },
    { what: 'segments with the move of a ref', move: moveFrom(MOVES), room: IDS.length * STORED },
  ]) {
    it(`is a failure, of ${what}`, async () => {
      let falselyComplete = 0;
      await forSeeds(SEEDS, async (_, seed) => {
        await openStore(seed);
        engine.quota = engine.used + room;
        const batch = { segments: IDS.map(segment), ...(move && { move }) };
        const written = await store.write({ ...batch, durability: 'strict' }).catch(kindOf);
        engine.quota = Number.POSITIVE_INFINITY;
        const { ids, refs } = await store.load();
        // The deletions of old moves may make enough room.
        const isMade = written === true;
        if (!isMade) expect(written).toBe('quota-exceeded');
        const stored = IDS.map((id) => (isMade ? segment(id).segmentBytes : undefined));
        expect(await store.read(IDS), 'segments').toEqual(stored);
        expect(ids, 'ids').toEqual(isMade ? [1, ...IDS] : [1]);
        expect(refs[0]?.generation, 'generation').toBe(isMade && move ? MOVES + 1 : MOVES);
        falselyComplete += engine.happened.falselyComplete;
        await store.close();
      });
      if (hasAllSeeds(SEEDS)) expect(falselyComplete).toBeGreaterThan(5);
    });
  }
});
