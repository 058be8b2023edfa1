/**
 * For simulations: makes WebCrypto and zlib answer in the turn of their call in Node, so that a seed always does the
 * same and waits for no other thread. Browsers keep their own.
 */
import { afterAll, beforeAll } from 'vitest';
import { builtinIfAny } from '../../../src/base/node-builtin.js';

/** Applies to all tests of a file. */
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
