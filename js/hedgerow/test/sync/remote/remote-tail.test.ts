/** The tails of heads, and their logs: entries come, move into logs, and leave. */
import { describe, expect, it } from 'vitest';
import { sameBytes } from '../../../src/base/bytes.js';
import { hex } from '../../../src/base/hex.js';
import { PLAIN_SCOPE } from '../../../src/sync/remote/format/cipher-suite.js';
import { decodeHead, encodeHead, headLength } from '../../../src/sync/remote/format/head-codec.js';
import type {
  HeadRecord,
  Layer,
  RowTree,
  Tail,
  TailEntry,
} from '../../../src/sync/remote/format/head-record.js';
import {
  breakBetween,
  entriesSince,
  joinedTail,
  logsSince,
  withEntry,
} from '../../../src/sync/remote/format/head-succession.js';
import { decodeLog, encodeLog } from '../../../src/sync/remote/format/tail-log-object.js';
import { forCuts, forFlips } from '../../support/damaged-bytes.js';
import { kindOf } from '../../support/error-kind.js';
import { forSeeds, hasAllSeeds } from '../../support/property.js';
import { random } from '../../support/random.js';
import {
  appended,
  authorOf,
  Branch,
  emptyHead,
  errorOf,
  hashOf,
  inline,
  object,
  rowsOf,
} from '../../support/remote-branch.js';
import { hash, randomBranch } from '../../support/remote-samples.js';

describe('a tail', () => {
  it('leads from each tree that it knows to the newest one', async () => {
    const seen = { logs: 0, checkpoints: 0 };
    await forSeeds(2, async (from, _, begin) => {
      const branch = new Branch(from);
      const states: { seq: number; rows: RowTree }[] = [{ seq: 1, rows: branch.head.rows }];
      for (let step = 0; step < 200; step++) {
        const rows = rowsOf(from);
        const length = 1 + from.below(from.pick([100, 100, 4096]));
        const delta = from.next() < 0.7 ? inline(from, length) : object(from, length * 10);
        begin({ step, seq: branch.head.seq, kind: delta.kind, length });
        const before = branch.head;
        const kind = await branch.add(rows, delta);
        if (kind === 'spill') throw new Error('nothing is that long');
        if (kind === 'checkpoint') {
          seen.checkpoints += 1;
          branch.checkpoint(rows, from.below(3) > 0 ? delta : undefined);
          if (branch.head.tail.length === 0) states.length = 0;
        }
        states.push({ seq: branch.head.seq, rows });
        await expectRules(from.bytes(16), branch, before, states);
        seen.logs = Math.max(seen.logs, branch.head.logs.length);
      }
    });
    if (!hasAllSeeds(2)) return;
    expect(seen.logs).toBeGreaterThan(8);
    expect(seen.checkpoints).toBeGreaterThan(2);
  });

  async function expectRules(
    salt: Uint8Array,
    branch: Branch,
    before: HeadRecord,
    states: readonly { seq: number; rows: RowTree }[],
  ): Promise<void> {
    const { head } = branch;
    const bytes = await encodeHead(head, salt, PLAIN_SCOPE);
    const again = await encodeHead(await decodeHead(bytes, PLAIN_SCOPE), salt, PLAIN_SCOPE);
    expect(sameBytes(again, bytes)).toBe(true);
    expect(breakBetween(head, before, hashOf(before))).toBeUndefined();
    const whole = await branch.tail(0);
    for (let nth = states.length - 1; nth >= Math.max(0, states.length - 70); nth -= 7) {
      const { seq, rows } = states[nth] as { seq: number; rows: RowTree };
      const wanted = states.slice(nth + 1).map((one) => hex(one.rows.rootBytes));
      const found = entriesSince(await branch.tail(seq), rows.rootBytes);
      if (wanted.length > whole.tail.length) expect(found).toBeUndefined();
      else expect(found?.map((one) => hex(one.rows.rootBytes))).toEqual(wanted);
    }
    // No more logs than needed.
    const [first] = head.tail;
    if (first) expect(logsSince(head, first.seq - 1)).toEqual([]);
    for (const [nth, { seq }] of head.logs.entries()) {
      expect(logsSince(head, seq - 1)).toHaveLength(head.logs.length - nth);
      const isOne = head.logs[nth]?.entries === 1;
      expect(logsSince(head, seq)).toHaveLength(head.logs.length - nth - (isOne ? 1 : 0));
    }
  }

  it('takes 64 entries after a checkpoint, and then asks for the next', async () => {
    const from = random(1);
    const branch = new Branch(from);
    for (let step = 0; step < 64; step++) {
      expect(await branch.add(rowsOf(from), inline(from, 10))).toBe('head');
    }
    expect((await branch.tail(0)).tail).toHaveLength(64);
    expect(branch.head.logs).toHaveLength(7);
    const rows = rowsOf(from);
    expect(await branch.add(rows, inline(from, 10))).toBe('checkpoint');
    branch.checkpoint(rows, inline(from, 10));
    // Whole logs leave.
    const kept = branch.head.logs.reduce((sum, { entries }) => sum + entries, 0);
    expect([kept, branch.head.tail.length, branch.head.logs[0]?.seq]).toEqual([24, 1, 42]);
  });

  it('has at most 8 entries and 3 KiB of them in the head, unless one is alone', async () => {
    const from = random(1);
    for (const [length, entries] of [
      [1, 8],
      [315, 8],
      [316, 7],
      [1467, 2],
      [1468, 1],
      [4096, 1],
    ] as const) {
      const branch = new Branch(from);
      const add = () => branch.add(rowsOf(from), inline(from, length));
      for (let nth = 0; nth < entries; nth++) await add();
      expect(branch.head.logs).toEqual([]);
      await add();
      const { logs, tail } = branch.head;
      expect([logs.map((log) => log.entries), tail.length]).toEqual([[entries], 1]);
    }
  });

  it('leaves a head of at most 5,900 bytes with many packs and logs', async () => {
    const from = random(1);
    const branch = new Branch(from);
    const pack = () => ({ nameBytes: from.bytes(32), length: 1000, edits: 3 });
    // All rows of a store of 1,000,000 rows, and 15 checkpoints since.
    let layers: Layer[] = [];
    let [longest, logs] = [0, 0];
    for (let step = 0; step < 1500; step++) {
      const rows = rowsOf(from);
      const delta = inline(from, 280 + from.below(600));
      if ((await branch.add(rows, delta)) === 'checkpoint') {
        if (layers.length === 16) layers = [];
        const packs = Array.from({ length: layers.length === 0 ? 31 : 1 }, pack);
        layers = [...layers, { seq: branch.head.seq + 1, rows, packs }];
        branch.checkpoint(rows, delta, layers);
      }
      longest = Math.max(longest, headLength(branch.head, PLAIN_SCOPE));
      logs = Math.max(logs, branch.head.logs.length);
    }
    expect(layers.length).toBeGreaterThan(1);
    expect(logs).toBe(16);
    expect(longest).toBeLessThanOrEqual(5900);
    expect(longest).toBeGreaterThan(5700);
  });

  it('has at most 16 logs', async () => {
    const from = random(1);
    const branch = new Branch(from);
    const add = () => branch.add(rowsOf(from), inline(from, 2000));
    for (let nth = 0; nth < 17; nth++) expect(await add()).toBe('head');
    expect(await add()).toBe('checkpoint');
    expect(branch.head.logs).toHaveLength(16);
  });

  it('spills long deltas', async () => {
    const from = random(1);
    const branch = new Branch(from);
    expect(await branch.add(rowsOf(from), inline(from, 4097))).toBe('spill');
    expect(await branch.add(rowsOf(from), object(from, (1 << 20) + 1))).toBe('checkpoint');
    expect(await branch.add(rowsOf(from), inline(from, 4096))).toBe('head');
  });

  it('goes on for ever, and stays short', async () => {
    const from = random(1);
    const branch = new Branch(from);
    let longest = 0;
    for (let step = 0; step < 1500; step++) {
      const rows = rowsOf(from);
      const delta = object(from, 5000);
      if ((await branch.add(rows, delta)) === 'checkpoint') branch.checkpoint(rows, delta);
      longest = Math.max(longest, headLength(branch.head, PLAIN_SCOPE));
    }
    expect(longest).toBeLessThan(3000);
    expect(branch.head.checkpoint.seq).toBeGreaterThan(1400);
  });

  it('asks for a checkpoint before its deltas have more than 1 MiB', async () => {
    const from = random(1);
    const branch = new Branch(from);
    await branch.add(rowsOf(from), object(from, (1 << 20) - 10));
    for (let nth = 0; nth < 9; nth++) {
      expect(await branch.add(rowsOf(from), object(from, 1))).toBe('head');
    }
    expect(branch.head.logs).toHaveLength(1);
    expect(await branch.add(rowsOf(from), object(from, 2))).toBe('checkpoint');
    expect(await branch.add(rowsOf(from), object(from, 1))).toBe('head');
  });

  it('refuses a step without changes', async () => {
    const from = random(1);
    const head = emptyHead(from);
    const call = () =>
      withEntry(head, head.rows, inline(from, 5), authorOf(from, head), PLAIN_SCOPE);
    expect(kindOf(await errorOf(call))).toBe('invalid-argument');
  });

  it('uses the last place of a tree that the branch has had twice', () => {
    const from = random(1);
    const [first, second] = [rowsOf(from), rowsOf(from)];
    let head = emptyHead(from);
    for (const rows of [first, second, first, second]) {
      head = appended(head, rows, inline(from, 5), authorOf(from, head));
    }
    expect(entriesSince(head, first.rootBytes)).toHaveLength(1);
    expect(entriesSince(head, second.rootBytes)).toHaveLength(0);
  });
});

describe('a log', () => {
  it('comes back as it was, and has one encoding', async () => {
    let count = 0;
    await forSeeds(200, async (from, _, begin) => {
      const { head, logs, logBytes } = await randomBranch(from);
      begin({ seq: head.seq, logs: logs.length });
      for (const [nth, bytes] of logBytes.entries()) {
        const { entries, saltBytes } = await decodeLog(bytes, PLAIN_SCOPE);
        expect(entries).toEqual(logs[nth]);
        const again = await encodeLog(entries, saltBytes, hash, PLAIN_SCOPE);
        expect([again.bytes, again.record]).toEqual([bytes, head.logs[nth]]);
        count += 1;
      }
      const all = [...logs.flatMap(({ tail }) => tail), ...head.tail];
      expect(joinedTail(head, logs)).toMatchObject({ base: logs[0]?.base ?? head.base, tail: all });
    });
    if (hasAllSeeds(200)) expect(count).toBeGreaterThan(100);
  });

  it('is refused wherever it is cut off, and with each flipped bit', async () => {
    const { bytes } = await randomLog();
    await forCuts(bytes, async (cut) => {
      const error = await errorOf(() => decodeLog(cut, PLAIN_SCOPE));
      expect([kindOf(error), error.object]).toEqual(['remote/data', 'log']);
    });
    await forFlips(bytes, async (flipped, bit) => {
      const error = await errorOf(() => decodeLog(flipped, PLAIN_SCOPE));
      const isLater = [4, 5].includes(bit >> 3) && error.offset === undefined;
      expect(kindOf(error)).toBe(isLater ? 'newer-version/format' : 'remote/data');
    });
  });

  async function randomLog() {
    for (let seed = 1; ; seed++) {
      const { head, logs, logBytes } = await randomBranch(random(seed));
      const [bytes, next] = [logBytes.at(-2), logBytes.at(-1)];
      if (bytes && next && logs.at(-1)?.tail.length !== logs.at(-2)?.tail.length) {
        return { head, logs, bytes };
      }
    }
  }

  it('is refused if the head names it differently', async () => {
    const { head, logs } = await randomLog();
    const last = logs.at(-1) as Tail;
    const other = random(1).bytes(32);
    const [entry] = last.tail.slice(-1) as [TailEntry];
    const wrong: Tail[][] = [
      [...logs.slice(0, -2), last, last],
      [...logs.slice(0, -1), { ...last, tail: last.tail.slice(1) }],
      [...logs.slice(0, -1), { ...last, tail: [] }],
      [
        ...logs.slice(0, -1),
        {
          ...last,
          tail: last.tail.with(-1, { ...entry, rows: { ...entry.rows, rootBytes: other } }),
        },
      ],
      [...logs.slice(0, -1), { ...last, tail: last.tail.with(-1, { ...entry, seq: head.seq }) }],
      [...logs.slice(0, -1), { ...last, base: { rootBytes: other, count: 1 } }],
    ];
    for (const [nth, some] of wrong.entries()) {
      const error = await errorOf(() => joinedTail(head, some));
      expect([kindOf(error), error.object], `${nth}`).toEqual(['remote/data', 'log']);
    }
  });
});
