/** Pushes whose answer was lost. */
import { expect, it } from 'vitest';
import { memoryRemote, type Remote, type Swap } from '../src/remote/index.js';
import { device, offline, rowsOf } from './sync-devices.js';

it('a push whose answer was lost is recognised, and pushed once', async () => {
  const inner = memoryRemote();
  let swaps = 0;
  const remote: Remote = {
    ...inner,
    async swapHead(...call): Promise<Swap> {
      // The first one makes the branch.
      swaps += 1;
      const swap = await inner.swapHead(...call);
      return swaps === 2 ? { state: 'unknown', cause: offline() } : swap;
    },
  };
  const a = await device(remote);
  await a.db.put('a', 1);
  expect(await a.link.push()).toMatchObject({ seq: 2 });
  expect(swaps).toBe(2);
  await a.db.put('a', 2);
  await a.link.push();
  const b = await device(inner);
  await b.link.pull();
  expect(await rowsOf(b.db)).toEqual({ a: 2 });
});

it('an edit after a push whose answer never came is no conflict', async () => {
  const inner = memoryRemote();
  let isCut = true;
  const remote: Remote = {
    ...inner,
    async swapHead(...call) {
      const swap = await inner.swapHead(...call);
      // The branch is there: the push itself is meant.
      if (isCut && call[1] !== undefined) throw new Error('the page was closed');
      return swap;
    },
  };
  const a = await device(remote);
  await a.db.put('a', { n: 1 });
  await expect(a.link.push()).rejects.toThrow('closed');
  isCut = false;
  await a.db.put('a', { n: 2 });
  const link = await a.db.remote(remote, { probe: false });
  expect(await link.push()).toMatchObject({ seq: 3, conflicts: 0 });
  expect(await rowsOf(a.db)).toEqual({ a: { n: 2 } });
});
