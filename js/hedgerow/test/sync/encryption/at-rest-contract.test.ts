/** The contract of adapters, over encrypted stores. */
import { assert, describe, it } from 'vitest';
import { memory } from '../../../src/index.js';
import { atRest } from '../../../src/sync/encryption/index.js';
import { segmentStoreContract } from '../../support/contracts/segment-store-contract.js';

// The same test runs over IndexedDB in browsers: see `browser/memory.ts`.
const sealed = () => atRest({ key: new Uint8Array(32).fill(7) }).over(memory());

describe('encrypted memory()', () => {
  for (const { name, run } of segmentStoreContract) it(name, () => run(sealed(), assert));

  it('passes the whole contract twice on one value', async () => {
    const storage = sealed();
    for (const { run } of [...segmentStoreContract, ...segmentStoreContract]) {
      await run(storage, assert);
    }
  });
});
