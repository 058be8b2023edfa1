/** The behaviour of tables and reads, over a handle of a store in a worker: the same tests, with another `open`. */
import { afterEach, vi } from 'vitest';
import { closeAll } from '../support/doubles/worker-wire.js';

vi.mock('../../src/index.js', async (importOriginal) => ({
  ...(await importOriginal<typeof import('../../src/index.js')>()),
  open: async (...args: Parameters<typeof import('../support/worker-open.js').remoteOpen>) =>
    (await import('../support/worker-open.js')).remoteOpen(...args),
}));
afterEach(closeAll);

await import('../store/tables/tables.test.js');
await import('../store/tables/tables-order.test.js');
await import('../store/tables/tables-words.test.js');
await import('../store/tables/structured-columns.test.js');
await import('../engine/read/get-many.test.js');
