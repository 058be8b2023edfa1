// A program without a browser. Its argument: `memory`, `sqlite` or `idb`.

import { memory } from 'hedgerow';
import { modules } from './modules.js';
import { outcome } from './report.js';
import { scenario } from './scenario.js';

const storages = {
  memory: async () => memory(),
  sqlite: async () => (await import('@hedgerow/sqlite')).sqlite({ location: './data' }),
  idb: async () => {
    await import('fake-indexeddb/auto');
    return undefined;
  },
};
for (const name of process.argv.slice(2)) {
  const run = storages[name]().then((storage) => scenario(modules, { storage }));
  console.log(JSON.stringify({ name, ...(await outcome(run)) }));
}
