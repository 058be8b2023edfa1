/** The contract of adapters, over every driver of SQLite. */
import { assert, describe, it } from 'vitest';
import { sampled } from './property.js';
import { segmentStoreContract } from './segment-store-contract.js';
import { OLDER_VERSIONS, SQL_STORAGES } from './sql-storages.js';

for (const [title, make] of SQL_STORAGES) {
  const isOlder = OLDER_VERSIONS.some((version) => title.endsWith(` ${version}`));
  describe(title, () => {
    // Older versions differ from the newest in little.
    for (const { name, run } of isOlder ? sampled(segmentStoreContract) : segmentStoreContract) {
      it(name, async () => run(await make(), assert));
    }

    it.runIf(sampled(SQL_STORAGES).some(([one]) => one === title))(
      'passes the whole contract twice on one value',
      { timeout: 60_000 },
      async () => {
        const storage = await make();
        for (const { run } of [...segmentStoreContract, ...segmentStoreContract]) {
          await run(storage, assert);
        }
      },
    );
  });
}
