import { describe, it } from 'vitest';

const tests = await import(process.env.FOREIGN_TESTS);

describe('y-indexeddb', () => {
  for (const [name, run] of Object.entries(tests)) {
    // As lib0 calls them.
    if (name.startsWith('test')) it(name, () => run({ testName: name, moduleName: 'y-indexeddb' }));
  }
});
