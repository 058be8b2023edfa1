import { describe } from 'vitest';
import { hedgerowDriver } from '../../../../js/adapters/dist/unstorage.js';
import { memory, open } from '../../../../js/hedgerow/dist/index.js';

const { testDriver } = await import(`${process.env.FOREIGN_DIR}/test/drivers/utils.ts`);

describe.each(['', 'items/'])('prefix %j', (prefix) => {
  testDriver({
    driver: hedgerowDriver(() => open(`unstorage ${prefix}`, { storage: memory() }), { prefix }),
  });
});
