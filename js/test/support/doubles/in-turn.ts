/**
 * For simulations: in Node, WebCrypto and zlib answer in the turn in which they are called, so that a seed does the same each time
 * and waits for no other thread. Browsers have their own.
 */
import { afterAll, beforeAll } from 'vitest';
import { builtinIfAny } from '../../../src/base/node-builtin.js';

/** For all tests of a file. */
export function simulateInTurn(): void {
  const ends: (() => void)[] = [];
  beforeAll(async () => {
    if (builtinIfAny('node:zlib') === undefined) return;
    const { simulateCrypto } = await import('./simulated-crypto.js');
    const { simulateZlib } = await import('./simulated-zlib.js');
    ends.push(simulateCrypto(), simulateZlib());
  });
  afterAll(() => {
    for (const end of ends) end();
  });
}
