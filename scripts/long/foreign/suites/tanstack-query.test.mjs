import { hedgerowQueryStorage } from '../../../../js/adapters/dist/tanstack-query.js';
import { memory, open, preload } from '../../../../js/hedgerow/dist/index.js';

await preload();
let stores = 0;
globalThis.getFreshStorage = () => {
  const storage = memory();
  const name = `queries ${stores++}`;
  return hedgerowQueryStorage(() => open(name, { storage }), { prefix: 'queries/' });
};
await import(process.env.FOREIGN_TESTS);
