/** Repository files and heads of a remote: their bytes, and how one head follows another. */
import { describe, expect, it } from 'vitest';
import { decodeDeltaObject, encodeDeltaObject } from '../src/remote/format/delta-object.js';
import { type Checkpoint, type Head, packsOf } from '../src/remote/format/head.js';
import { decodeHead, encodeHead, headLength } from '../src/remote/format/head-codec.js';
import { breakBetween, successorOf } from '../src/remote/format/head-rules.js';
import { decodeRepository, encodeRepository, mayWrite } from '../src/remote/format/repository.js';
import { forSeeds, seedCount } from './property.js';
import { random } from './random.js';
import {
  appended,
  authorOf,
  checkpointed,
  emptyHead,
  errorOf,
  inline,
  rowsOf,
  ZERO,
} from './remote-branch.js';
import { hash, randomHead, resealed } from './remote-samples.js';

describe('a repository file', () => {
  it('comes back as it was', () => {
    const repository = { idBytes: random(1).bytes(16), app: 0xffff_ffff };
    const bytes = encodeRepository(repository);
    expect(bytes.length).toBe(40);
    expect(decodeRepository(bytes)).toEqual(repository);
  });

  it('of a later version, suite or codec is not supported', () => {
    const bytes = encodeRepository({ idBytes: random(1).bytes(16), app: 1 });
    for (const [at, byte] of [
      [4, 2],
      [5, 1],
      [24, 2],
    ] as const) {
      const error = errorOf(() => decodeRepository(resealed(bytes.with(at, byte))));
      expect([error.code, error.object]).toEqual(['unsupported-format', 'repository']);
    }
  });

  it('tells an older app that it only reads', () => {
    expect([0, 3, 4].map((app) => mayWrite(app, { app: 3 }))).toEqual([false, true, true]);
  });
});

describe('a head', () => {
  it('comes back as it was, and has one encoding', async () => {
    await forSeeds(seedCount(300), async (from, _, begin) => {
      const head = randomHead(from);
      begin({ seq: head.seq, tail: head.tail.length, packs: packsOf(head.checkpoint).length });
      const bytes = encodeHead(head);
      expect(bytes.length).toBe(headLength(head));
      const found = decodeHead(bytes);
      expect(found).toEqual(head);
      expect(encodeHead(found)).toEqual(bytes);
    });
  });

  it('is refused wherever it is cut off', () => {
    const bytes = encodeHead(randomHead(random(4)));
    for (let length = 0; length < bytes.length; length++) {
      const error = errorOf(() => decodeHead(bytes.slice(0, length)));
      expect([error.code, error.object], `${length}`).toEqual(['invalid-remote', 'head']);
    }
  });

  it('is refused with each single bit flipped', () => {
    const bytes = encodeHead(randomHead(random(2)));
    expect(bytes.length).toBeGreaterThan(300);
    for (let bit = 0; bit < 8 * bytes.length; bit++) {
      const [at, mask] = [bit >> 3, 1 << (bit & 7)];
      const error = errorOf(() => decodeHead(bytes.with(at, (bytes[at] as number) ^ mask)));
      const isLater = at === 4 || at === 5;
      expect(error.code, `bit ${bit}`).toBe(
        isLater && error.offset === undefined ? 'unsupported-format' : 'invalid-remote',
      );
    }
  });

  it('that breaks a rule is neither written nor read', async () => {
    const head = randomHead(random(1));
    const noPacks = { seq: 1, rows: head.rows, packs: [] };
    const wrong: [string, Partial<Head>][] = [
      ['seq', { seq: 0 }],
      ['previous', { previousBytes: head.seq === 1 ? head.rows.rootBytes : ZERO }],
      ['rows', { rows: { rootBytes: random(9).bytes(32), count: 1 } }],
      ['checkpoint', { checkpoint: { ...head.checkpoint, seq: head.seq + 1 } }],
      ['generation 0', { checkpoint: { seq: 1, generations: [noPacks] } }],
    ];
    for (const [place, change] of wrong) {
      const error = errorOf(() => encodeHead({ ...head, ...change }));
      expect(error.code).toBe('invalid-argument');
      expect(error.message).toContain(`head: ${place}: `);
    }
  });

  it('longer than 64 KiB is not written', () => {
    const from = random(1);
    const head = checkpointed(
      from,
      appended(emptyHead(from), rowsOf(from), inline(from, 9), authorOf(from, emptyHead(from))),
    );
    const packs = (count: number): Checkpoint => {
      const [one] = packsOf(head.checkpoint);
      if (one === undefined) throw new Error('there is a pack');
      const all = Array.from({ length: count }, () => ({ ...one, nameBytes: from.bytes(32) }));
      return {
        seq: head.seq - 1,
        generations: [{ seq: head.seq - 1, rows: head.rows, packs: all }],
      };
    };
    const long = { ...head, checkpoint: packs(1700) };
    expect(headLength(long)).toBeGreaterThan(65_536);
    expect(errorOf(() => encodeHead(long)).code).toBe('invalid-argument');
    const fitting = { ...head, checkpoint: packs(1600) };
    expect(packsOf(decodeHead(encodeHead(fitting)).checkpoint)).toHaveLength(1600);
  });
});

describe('two heads', () => {
  it('of which one does not follow the other are told apart', () => {
    const from = random(1);
    const head = emptyHead(from);
    const next = successorOf(head, authorOf(from, head));
    const hashBytes = hash(encodeHead(head));
    expect(breakBetween(next, head, hashBytes)).toBeUndefined();
    expect(breakBetween({ ...next, seq: 3 }, head, hashBytes)).toBe('seq');
    expect(breakBetween(head, head, hashBytes)).toBe('seq');
    expect(breakBetween({ ...next, repositoryBytes: from.bytes(16) }, head, hashBytes)).toBe(
      'repository',
    );
    expect(breakBetween({ ...next, previousBytes: from.bytes(32) }, head, hashBytes)).toBe(
      'previous',
    );
  });
});

describe('a delta of its own', () => {
  it('comes back, under another name each time', () => {
    const from = random(1);
    const deltaBytes = from.bytes(5000);
    const one = encodeDeltaObject(deltaBytes, from.bytes(16));
    expect(decodeDeltaObject(one)).toEqual(deltaBytes);
    expect(hash(one)).not.toEqual(hash(encodeDeltaObject(deltaBytes, from.bytes(16))));
    expect(errorOf(() => encodeDeltaObject(new Uint8Array(), from.bytes(16))).code).toBe(
      'invalid-argument',
    );
    const error = errorOf(() => decodeDeltaObject(one.with(100, (one[100] as number) ^ 4)));
    expect([error.code, error.object]).toEqual(['invalid-remote', 'delta']);
  });
});
