export default {
  packages: ['bun', 'fake-indexeddb'],
  // Its program is in a package for each platform; this links it.
  scripts: ['bun'],
  cases: {
    'import: memory, fake-indexeddb': (shop) =>
      shop.results('bun', ['src/program.mjs', 'memory', 'idb']),
    '@hedgerow/sqlite: SQLite': async (shop) => {
      const { sqlite } = await shop.results('bun', ['src/program.mjs', 'sqlite']);
      return sqlite;
    },
    'bun build: page': async (shop) => {
      const { html } = await import('../lib/workshop.mjs');
      await shop.write({ 'dist/index.html': html('/page.js') });
      await shop.run('bun', ['build', '--splitting', '--minify', '--outdir=dist', 'src/page.js']);
      return shop.visit(await shop.serve('dist'));
    },
  },
};
