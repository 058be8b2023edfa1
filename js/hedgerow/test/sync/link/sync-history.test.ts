/** Blocks of history: the entry of a checkpoint, and the record of a push. */
import { describe, expect, it } from 'vitest';
import { hex } from '../../../src/base/hex.js';
import { HeadObjects } from '../../../src/sync/link/head-objects.js';
import type { SyncContext } from '../../../src/sync/link/link-context.js';
import { checkHasPush, extendHistory } from '../../../src/sync/link/push-history.js';
import {
  type BlockRecord,
  NO_CHECKPOINT,
  type Push,
} from '../../../src/sync/remote/format/head-record.js';
import { decodeBlock, encodeBlock } from '../../../src/sync/remote/format/push-history-block.js';
import { memoryRemote } from '../../../src/sync/remote/index.js';
import { forCuts, forFlips } from '../../support/damaged-bytes.js';
import { kindOf } from '../../support/error-kind.js';
import { forSeeds } from '../../support/property.js';
import { type Random, random } from '../../support/random.js';
import { emptyHead, errorOf } from '../../support/remote-branch.js';
import { hash, resealed } from '../../support/remote-samples.js';
import { SUITES } from '../../support/remote-scopes.js';

const pushOf = (from: Random, seq: number): Push => ({ seq, nonceBytes: from.bytes(16) });
const startOf = ({ seq, nonceBytes }: Push) => ({ seq, nonceBytes: nonceBytes.slice(0, 8) });

function pushesOf(from: Random, count: number): Push[] {
  let seq = 0;
  return Array.from({ length: count }, () => {
    seq += 1 + from.below(3);
    return pushOf(from, seq);
  });
}

describe.each(SUITES)('a block of a remote %s', (_, scope) => {
  it('comes back as it was, and has one encoding', async () => {
    await forSeeds(50, async (from) => {
      const pushes = pushesOf(from, 1 + from.below(200));
      const salt = from.bytes(16);
      const { bytes, record } = await encodeBlock(pushes, salt, hash, scope);
      const found = await decodeBlock(bytes, scope);
      expect(found).toEqual({ pushes: pushes.map(startOf), saltBytes: salt });
      expect((await encodeBlock(found.pushes, salt, hash, scope)).bytes).toEqual(bytes);
      const counts = { seq: pushes[0]?.seq, pushes: pushes.length };
      expect(record).toEqual({ nameBytes: hash(bytes), length: bytes.length, ...counts });
    });
  });

  it('is refused with a flipped bit, and wherever it is cut off', async () => {
    const from = random(1);
    const { bytes } = await encodeBlock(pushesOf(from, 5), from.bytes(16), hash, scope);
    await forCuts(bytes, async (cut) => {
      const error = await errorOf(() => decodeBlock(cut, scope));
      expect([kindOf(error), error.object]).toEqual(['remote/data', 'history']);
    });
    await forFlips(bytes, async (flipped) => {
      const code = kindOf(await errorOf(() => decodeBlock(flipped, scope)));
      expect(['remote/data', 'newer-version/format']).toContain(code);
    });
  });

  it('lists at most 65,536 pushes, which ascend', async () => {
    const from = random(1);
    const [first, second] = pushesOf(from, 2) as [Push, Push];
    const many = Array.from({ length: 65_537 }, (_, nth) => ({ ...first, seq: nth + 1 }));
    for (const wrong of [[], [second, first], [first, first], many]) {
      const code = kindOf(await errorOf(() => encodeBlock(wrong, from.bytes(16), hash, scope)));
      expect(code).toBe('invalid-argument');
    }
    await encodeBlock(many.slice(1), from.bytes(16), hash, scope);
  });
});

/** A branch of checkpoints only. */
class Checkpoints {
  readonly #from: Random;
  readonly remote = memoryRemote();
  readonly pushes: Push[] = [];
  /** Counts the bytes of history that were put. */
  putBytes = 0;
  head;

  constructor(from: Random) {
    this.#from = from;
    this.head = { ...emptyHead(from), checkpoint: NO_CHECKPOINT };
  }

  get context(): SyncContext {
    const tools = { hash, random: (length: number) => this.#from.bytes(length) };
    const scope = SUITES[0]?.[1];
    return { remote: this.remote, tools, scope } as unknown as SyncContext;
  }

  /** A checkpoint that is `gap` numbers later. */
  async add(gap = 1): Promise<void> {
    const push = pushOf(this.#from, this.head.checkpoint.seq + gap);
    const history = await extendHistory(this.context, this.head, push, {});
    this.pushes.push(push);
    this.putBytes += history.at(-1)?.length ?? 0;
    const { seq, nonceBytes } = push;
    this.head = { ...this.head, seq, checkpoint: { seq, nonceBytes, history, layers: [] } };
  }

  async has(push: Push): Promise<boolean> {
    const found = checkHasPush(objectsOf(this), this.head, push);
    return found.then(
      () => true,
      (cause: { readonly code: string }) => {
        expect(cause.code).toBe('rollback');
        return false;
      },
    );
  }
}

/** Reads the objects of the head. */
const objectsOf = ({ context, head }: Checkpoints) => new HeadObjects(context, head, undefined);

const counts = (history: readonly BlockRecord[]) => history.map(({ pushes }) => pushes);

it('a history has few blocks, which list each push once', async () => {
  await forSeeds(8, async (from) => {
    const branch = new Checkpoints(from);
    for (let nth = 0; nth < 300; nth++) await branch.add(1 + from.below(3));
    const { history } = branch.head.checkpoint;
    expect(counts(history).reduce((sum, count) => sum + count, 0)).toBe(300);
    expect(history.length).toBeLessThanOrEqual(9);
    // Each push is put again a few times: 16 bytes, and the frame of a block.
    expect(branch.putBytes).toBeLessThan(300 * (9 * 16 + 64));
    for (const push of branch.pushes) expect(await branch.has(push)).toBe(true);
    for (const { seq } of branch.pushes) expect(await branch.has(pushOf(from, seq))).toBe(false);
    const skipped = branch.head.seq - branch.pushes.length;
    expect(skipped).toBeGreaterThan(0);
    const numbers = new Set(branch.pushes.map(({ seq }) => seq));
    const gap = Array.from({ length: branch.head.seq }, (_, nth) => nth + 1).find(
      (seq) => !numbers.has(seq),
    ) as number;
    expect(await branch.has(pushOf(from, gap))).toBe(false);
    expect(await branch.has(pushOf(from, branch.head.seq + 1))).toBe(false);
  });
});

it('a missing or wrong block is refused', async () => {
  const from = random(1);
  const branch = new Checkpoints(from);
  for (let nth = 0; nth < 5; nth++) await branch.add();
  const [block] = branch.head.checkpoint.history as readonly [BlockRecord];
  const name = `d/${hex(block.nameBytes)}`;
  const bytes = (await branch.remote.get(name)) as Uint8Array;
  const [first, last] = [branch.pushes[0] as Push, branch.pushes[4] as Push];
  const refused = async (change: object) => {
    const history = [{ ...block, ...change }];
    branch.head = { ...branch.head, checkpoint: { ...branch.head.checkpoint, history } };
    const error = await errorOf(() => checkHasPush(objectsOf(branch), branch.head, first));
    expect([kindOf(error), error.object]).toEqual(['remote/data', 'history']);
  };
  await refused({ pushes: block.pushes + 1 });
  await refused({ length: block.length + 1 });
  const flipped = resealed(bytes.with(24, 2));
  await branch.remote.put(name, flipped);
  await refused({});
  await branch.remote.remove([name]);
  await refused({});
  // The last one is in the head itself.
  expect(await branch.has(last)).toBe(true);
});
