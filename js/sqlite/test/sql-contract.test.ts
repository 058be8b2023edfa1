/** The contract of adapters, over every driver of SQLite. */
import { assert, describe, it } from 'vitest';
import { segmentStoreContract } from '../../hedgerow/test/support/contracts/segment-store-contract.js';
import { SQL_STORAGES } from './support/sql-storages.js';

for (const [title, make] of SQL_STORAGES) {
  describe(title, () => {
    for (const { name, run } of segmentStoreContract) {
      it(name, async () => run(await make(), assert));
    }

    it('passes the whole contract twice on one value', async () => {
      const storage = await make();
      for (const { run } of [...segmentStoreContract, ...segmentStoreContract]) {
        await run(storage, assert);
      }
    });
  });
}
