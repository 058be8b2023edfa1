/** Repository files and heads of a remote: their bytes, and the rules by which one head follows another. */
import { describe, expect, it } from 'vitest';
import { PLAIN_SCOPE } from '../../../src/sync/remote/format/cipher-suite.js';
import {
  decodeDeltaObject,
  encodeDeltaObject,
} from '../../../src/sync/remote/format/delta-object.js';
import { decodeHead, encodeHead, headLength } from '../../../src/sync/remote/format/head-codec.js';
import {
  type Checkpoint,
  type HeadRecord,
  packsOf,
} from '../../../src/sync/remote/format/head-record.js';
import { breakBetween, successorOf } from '../../../src/sync/remote/format/head-succession.js';
import {
  decodeRepository,
  encodeRepository,
  mayWrite,
} from '../../../src/sync/remote/format/repository-file.js';
import { forCuts, forFlips } from '../../support/damaged-bytes.js';
import { kindOf } from '../../support/error-kind.js';
import { forSeeds } from '../../support/property.js';
import { random } from '../../support/random.js';
import {
  appended,
  authorOf,
  checkpointed,
  emptyHead,
  errorOf,
  hashOf,
  inline,
  rowsOf,
  ZERO,
} from '../../support/remote-branch.js';
import { hash, randomHead, resealed } from '../../support/remote-samples.js';
import { SEALED_SCOPE, SUITES } from '../../support/remote-scopes.js';

describe('a repository file', () => {
  it.each(SUITES)('of a remote %s comes back as it was', async (_, scope) => {
    const repository = { idBytes: random(1).bytes(16), app: 0xffff_ffff };
    const bytes = await encodeRepository(repository, scope);
    expect(bytes.length).toBe(scope === PLAIN_SCOPE ? 40 : 48);
    expect(await decodeRepository(bytes, scope)).toEqual(repository);
  });

  it.each(SUITES)('of a remote %s is refused with each flipped bit', async (_, scope) => {
    const bytes = await encodeRepository({ idBytes: random(1).bytes(16), app: 7 }, scope);
    await forFlips(bytes, async (flipped) => {
      const code = kindOf(await errorOf(() => decodeRepository(flipped, scope)));
      expect(['remote/data', 'newer-version/format']).toContain(code);
    });
  });

  it('of a later version, suite or codec is not supported', async () => {
    const repository = { idBytes: random(1).bytes(16), app: 1 };
    const bytes = await encodeRepository(repository, PLAIN_SCOPE);
    for (const [at, byte] of [
      [4, 2],
      [5, 2],
      [24, 2],
    ] as const) {
      const changed = resealed(bytes.with(at, byte));
      const error = await errorOf(() => decodeRepository(changed, PLAIN_SCOPE));
      expect([kindOf(error), error.object]).toEqual(['newer-version/format', 'repository']);
    }
  });

  it('makes an older app a reader only', () => {
    expect([0, 3, 4].map((app) => mayWrite(app, { app: 3 }))).toEqual([false, true, true]);
  });
});

describe.each(SUITES)('a head %s', (_, scope) => {
  it('comes back as it was, and has one encoding', async () => {
    await forSeeds(200, async (from, _, begin) => {
      const head = await randomHead(from, scope);
      begin({ seq: head.seq, tail: head.tail.length, packs: packsOf(head.checkpoint).length });
      const salt = from.bytes(16);
      const bytes = await encodeHead(head, salt, scope);
      expect(bytes.length).toBe(headLength(head, scope));
      const found = await decodeHead(bytes, scope);
      expect(found).toEqual(head);
      expect(await encodeHead(found, salt, scope)).toEqual(bytes);
    });
  });

  const sample = async (seed: number) => {
    const head = await randomHead(random(seed), scope);
    return encodeHead(head, random(9).bytes(16), scope);
  };

  it('is refused wherever it is cut off', async () => {
    const bytes = await sample(4);
    await forCuts(bytes, async (cut) => {
      const error = await errorOf(() => decodeHead(cut, scope));
      expect([kindOf(error), error.object]).toEqual(['remote/data', 'head']);
    });
  });

  it('is refused with each flipped bit', async () => {
    const bytes = await sample(2);
    expect(bytes.length).toBeGreaterThan(300);
    await forFlips(bytes, async (flipped, bit) => {
      const error = await errorOf(() => decodeHead(flipped, scope));
      const isLater = [4, 5].includes(bit >> 3) && error.offset === undefined;
      expect(kindOf(error)).toBe(isLater ? 'newer-version/format' : 'remote/data');
    });
  });

  it('that breaks a rule is neither written nor read', async () => {
    const head = await randomHead(random(1), scope);
    const noPacks = { seq: 1, rows: head.rows, packs: [] };
    const block = { nameBytes: random(9).bytes(32), length: 100, seq: 1, pushes: 1 };
    const pack = { nameBytes: random(8).bytes(32), length: 100, edits: 1 };
    const first: Checkpoint = {
      ...{ seq: 1, nonceBytes: random(9).bytes(16), history: [block] },
      layers: [{ seq: 1, rows: head.rows, packs: [pack] }],
    };
    const withBlock = (change: object): Partial<HeadRecord> => ({
      checkpoint: { ...first, history: [{ ...block, ...change }] },
    });
    const wrong: [string, Partial<HeadRecord>][] = [
      ['seq', { seq: 0 }],
      ['previous', { previousBytes: head.seq === 1 ? head.rows.rootBytes : ZERO }],
      ['rows', { rows: { rootBytes: random(9).bytes(32), count: 1 } }],
      ['checkpoint', { checkpoint: { ...head.checkpoint, seq: head.seq + 1 } }],
      ['layer 0', { checkpoint: { ...first, layers: [noPacks] } }],
      ['checkpoint', { checkpoint: { ...first, nonceBytes: ZERO.subarray(0, 16) } }],
      ['checkpoint', { checkpoint: { ...first, history: [] } }],
      ['block 0', withBlock({ seq: 0 })],
      ['block 0', withBlock({ length: 0 })],
      ['block 0', withBlock({ length: (1 << 20) + 2049 })],
      ['block 0', withBlock({ pushes: 0 })],
      ['block 0', withBlock({ pushes: 2 })],
      ['block 1', { checkpoint: { ...first, history: [block, block] } }],
    ];
    for (const [place, change] of wrong) {
      const broken = { ...head, ...change };
      const error = await errorOf(() => encodeHead(broken, random(1).bytes(16), scope));
      expect(kindOf(error)).toBe('invalid-argument');
      expect(error.message).toContain(`head: ${place}: `);
    }
  });

  it('longer than 64 KiB is not written', async () => {
    const from = random(1);
    const empty = { ...emptyHead(from), epoch: scope.epoch };
    const head = checkpointed(
      from,
      appended(empty, rowsOf(from), inline(from, 9), authorOf(from, empty)),
    );
    const packs = (count: number): Checkpoint => {
      const [one] = packsOf(head.checkpoint);
      if (one === undefined) throw new Error('there is a pack');
      const all = Array.from({ length: count }, () => ({ ...one, nameBytes: from.bytes(32) }));
      return {
        ...head.checkpoint,
        layers: [{ seq: head.seq - 1, rows: head.rows, packs: all }],
      };
    };
    const salt = from.bytes(16);
    const long = { ...head, checkpoint: packs(1700) };
    expect(headLength(long, scope)).toBeGreaterThan(65_536);
    expect(kindOf(await errorOf(() => encodeHead(long, salt, scope)))).toBe('invalid-argument');
    const fitting = { ...head, checkpoint: packs(1600) };
    const found = await decodeHead(await encodeHead(fitting, salt, scope), scope);
    expect(packsOf(found.checkpoint)).toHaveLength(1600);
  });
});

describe('two heads', () => {
  it('are distinguished if one does not follow the other', () => {
    const from = random(1);
    const head = emptyHead(from);
    const next = successorOf(head, authorOf(from, head));
    const hashBytes = hashOf(head);
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

describe.each(SUITES)('a delta of its own %s', (_, scope) => {
  it('comes back, under another name each time', async () => {
    const from = random(1);
    const deltaBytes = from.bytes(5000);
    const one = await encodeDeltaObject(deltaBytes, from.bytes(16), scope);
    expect(await decodeDeltaObject(one, scope)).toEqual(deltaBytes);
    const other = await encodeDeltaObject(deltaBytes, from.bytes(16), scope);
    expect(hash(one)).not.toEqual(hash(other));
    const empty = errorOf(() => encodeDeltaObject(new Uint8Array(), from.bytes(16), scope));
    expect(kindOf(await empty)).toBe('invalid-argument');
    const flipped = one.with(100, (one[100] as number) ^ 4);
    const error = await errorOf(() => decodeDeltaObject(flipped, scope));
    expect([kindOf(error), error.object]).toEqual(['remote/data', 'delta']);
  });

  it('of 1 MiB with its envelope is written, and no longer one', async () => {
    const most = scope === PLAIN_SCOPE ? (1 << 20) - 28 : (1 << 20) - 1024 - 4;
    const salt = random(1).bytes(16);
    const bytes = await encodeDeltaObject(new Uint8Array(most).fill(1), salt, scope);
    expect(bytes.length).toBeLessThanOrEqual(1 << 20);
    const more = new Uint8Array(most + 1).fill(1);
    expect(kindOf(await errorOf(() => encodeDeltaObject(more, salt, scope)))).toBe(
      'invalid-argument',
    );
  });
});

it('objects of one suite do not decode as objects of the other', async () => {
  const from = random(1);
  for (const [, scope] of SUITES) {
    const other = scope === PLAIN_SCOPE ? SEALED_SCOPE : PLAIN_SCOPE;
    const objects: [(bytes: Uint8Array) => Promise<unknown>, Promise<Uint8Array>][] = [
      [
        (by) => decodeHead(by, other),
        encodeHead(await randomHead(from, scope), ZERO.slice(16), scope),
      ],
      [
        (by) => decodeDeltaObject(by, other),
        encodeDeltaObject(from.bytes(9), ZERO.slice(16), scope),
      ],
      [
        (by) => decodeRepository(by, other),
        encodeRepository({ idBytes: from.bytes(16), app: 0 }, scope),
      ],
    ];
    for (const [decode, bytes] of objects) {
      const object = await bytes;
      const error = await errorOf(() => decode(object));
      expect(error.code).toBe('wrong-key');
      expect(error.message).toContain(other === PLAIN_SCOPE ? 'is encrypted' : 'is not encrypted');
    }
  }
});
