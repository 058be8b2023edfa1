export default {
  packages: ['deno', 'fake-indexeddb'],
  scripts: ['deno'],
  cases: {
    'import: memory, SQLite, fake-indexeddb': (shop) =>
      shop.results('deno', ['run', '-A', 'src/program.mjs', 'memory', 'sqlite', 'idb']),
  },
};
