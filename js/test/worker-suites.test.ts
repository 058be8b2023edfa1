/** The behaviour of tables and reads, over a handle of a store in a worker: the same tests, with another `open`. */
import { afterEach, vi } from 'vitest';
import { closeAll } from './worker-wire.js';

vi.mock('../src/index.js', async (importOriginal) => ({
  ...(await importOriginal<typeof import('../src/index.js')>()),
  open: async (...args: Parameters<typeof import('./worker-open.js').remoteOpen>) =>
    (await import('./worker-open.js')).remoteOpen(...args),
}));
afterEach(closeAll);

await import('./tables.test.js');
await import('./tables-order.test.js');
await import('./tables-words.test.js');
await import('./structured-columns.test.js');
await import('./get-many.test.js');
