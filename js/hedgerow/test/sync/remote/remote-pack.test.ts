/** Packs of both suites: their frames come back together, and each alone by its range. */
import { describe, expect, it } from 'vitest';
import { concatBytes } from '../../../src/base/bytes.js';
import type { Scope } from '../../../src/sync/remote/format/cipher-suite.js';
import { deflate, inflate } from '../../../src/sync/remote/format/deflate.js';
import { decodeDeltaBody } from '../../../src/sync/remote/format/delta-body.js';
import { decodePack, readPackTable } from '../../../src/sync/remote/format/pack-read.js';
import { forCuts, forFlips } from '../../support/damaged-bytes.js';
import { kindOf } from '../../support/error-kind.js';
import { forSeeds } from '../../support/property.js';
import type { Random } from '../../support/random.js';
import { random } from '../../support/random.js';
import { errorOf } from '../../support/remote-branch.js';
import { encodePack } from '../../support/remote-samples.js';
import { SUITES } from '../../support/remote-scopes.js';

async function whole(parts: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const all: Uint8Array[] = [];
  for await (const part of parts) all.push(part);
  return concatBytes(all);
}

async function decoded(bytes: Uint8Array, scope: Scope): Promise<Uint8Array[]> {
  const deltas: Uint8Array[] = [];
  for await (const delta of decodePack(bytes, inflate, scope)) deltas.push(await whole(delta));
  return deltas;
}

const deltasOf = (from: Random, most: number, length: number) =>
  Array.from({ length: 1 + from.below(most) }, () => from.bytes(1 + from.below(length)));

describe.each(SUITES)('a pack of a remote %s', (_, scope) => {
  it('comes back, and each frame alone, by the front of the pack and its range', async () => {
    await forSeeds(60, async (from, _seed, begin) => {
      const deltas = deltasOf(from, from.pick([1, 5, 200]), from.pick([10, 3000]));
      begin({ frames: deltas.length });
      const bytes = await encodePack(deltas, from.bytes(16), deflate, scope);
      expect(await decoded(bytes, scope)).toEqual(deltas);
      const first = (await readPackTable(bytes, scope)).frames[0]?.at ?? 0;
      const table = await readPackTable(bytes.slice(0, first + from.below(9)), scope);
      expect([table.frames.length, table.end]).toEqual([deltas.length, bytes.length]);
      for (const nth of [0, from.below(deltas.length), deltas.length - 1]) {
        const { at, length } = table.frames[nth] as (typeof table.frames)[number];
        const frame = bytes.slice(at, at + length);
        const body = await table.open(nth, frame);
        expect(await whole(decodeDeltaBody(body, inflate))).toEqual(deltas[nth]);
        // It does not open as another frame.
        const other = (nth + 1) % deltas.length;
        if (other === nth) continue;
        const error = await errorOf(() => table.open(other, frame));
        expect([kindOf(error), error.object]).toEqual(['remote/data', 'pack']);
      }
    });
  });

  it('is refused wherever it is cut off, and with each flipped bit', async () => {
    const from = random(3);
    const deltas = [from.bytes(30), from.bytes(9), from.bytes(50)];
    const bytes = await encodePack(deltas, from.bytes(16), deflate, scope);
    await forCuts(bytes, async (cut) => {
      const error = await errorOf(() => decoded(cut, scope));
      expect([kindOf(error), error.object]).toEqual(['remote/data', 'pack']);
    });
    await forFlips(bytes, async (flipped, bit) => {
      const error = await errorOf(() => decoded(flipped, scope));
      const isLater = [4, 5].includes(bit >> 3) && error.offset === undefined;
      expect(kindOf(error)).toBe(isLater ? 'newer-version/format' : 'remote/data');
    });
  });

  it('has from 1 to 1,024 frames, and 16 MiB of edits in all', async () => {
    const salt = random(1).bytes(16);
    const one = random(2).bytes(20);
    for (const count of [0, 1025]) {
      const deltas = Array.from({ length: count }, () => one);
      const error = await errorOf(() => encodePack(deltas, salt, deflate, scope));
      expect([kindOf(error), error.object]).toEqual(['invalid-argument', 'pack']);
    }
    const most = Array.from({ length: 1024 }, () => one);
    expect(await decoded(await encodePack(most, salt, deflate, scope), scope)).toHaveLength(1024);
    const [half, more] = [new Uint8Array(8 << 20), new Uint8Array((8 << 20) + 1)];
    const fits = await encodePack([half, half], salt, deflate, scope);
    expect((await decoded(fits, scope)).map(({ length }) => length)).toEqual([8 << 20, 8 << 20]);
    const long = await encodePack([half, more], salt, deflate, scope);
    const error = await errorOf(() => decoded(long, scope));
    expect([kindOf(error), error.object]).toEqual(['remote/data', 'pack']);
    expect(error.message).toContain('too long');
  });

  it('above 16 MiB is not written', async () => {
    const salt = random(1).bytes(16);
    const noise = random(2).bytes(1 << 20);
    const stored = async (bytes: Uint8Array) => bytes;
    const deltas = Array.from({ length: 16 }, () => noise);
    const error = await errorOf(() => encodePack(deltas, salt, stored, scope));
    expect([kindOf(error), error.object]).toEqual(['invalid-argument', 'pack']);
  });
});
