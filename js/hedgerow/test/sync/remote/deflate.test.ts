/** Deflating by zlib and by the streams of the platform: each reads the other, and both refuse the same bytes. */
import { expect, it } from 'vitest';
import { concatBytes, sameBytes } from '../../../src/base/bytes.js';
import {
  deflate,
  deflateByStream,
  type Inflate,
  inflate,
  inflateByStream,
} from '../../../src/sync/remote/format/deflate.js';
import { random } from '../../support/random.js';

const ways = { platform: whole(inflate), stream: whole(inflateByStream) };

/** Reads all parts. */
function whole(way: Inflate) {
  return async (bytes: Uint8Array, most: number): Promise<Uint8Array> => {
    const parts: Uint8Array[] = [];
    for await (const part of way(bytes, most)) parts.push(part);
    return concatBytes(parts);
  };
}

function sampleOf(length: number): Uint8Array {
  const from = random(length);
  return Uint8Array.from({ length }, () => 97 + from.below(4));
}

it.each([1, 100, 5000, 300_000])('%i bytes come back by either way', async (length) => {
  const bytes = sampleOf(length);
  for (const deflated of [await deflate(bytes), await deflateByStream(bytes)]) {
    expect(deflated.constructor).toBe(Uint8Array);
    for (const way of Object.values(ways)) {
      const back = await way(deflated, length);
      expect(back.constructor).toBe(Uint8Array);
      expect(sameBytes(back, bytes)).toBe(true);
    }
  }
});

it.each(Object.entries(ways))('%s refuses cut, longer and damaged bytes', async (_, way) => {
  const bytes = sampleOf(50_000);
  const deflated = await deflate(bytes);
  const refused = async (given: Uint8Array, most: number) =>
    expect(await way(given, most).catch((cause: unknown) => cause)).toBeInstanceOf(Error);
  await refused(deflated.subarray(0, deflated.length - 1), bytes.length);
  await refused(deflated, bytes.length - 1);
  // Browser streams refuse bytes after the end, too; Node streams ignore them, and are not used there.
  if (way === ways.platform) await refused(Uint8Array.of(...deflated, 0), bytes.length);
  await refused(Uint8Array.of(7), bytes.length);
  await refused(new Uint8Array(), bytes.length);
});

it.each(Object.entries(ways))('%s stops a bomb at its limit', async (_, way) => {
  const bomb = await deflate(new Uint8Array(64 << 20));
  expect(bomb.length).toBeLessThan(100_000);
  const outcome = await way(bomb, 1 << 20).catch((cause: unknown) => cause);
  expect(outcome).toBeInstanceOf(Error);
});
