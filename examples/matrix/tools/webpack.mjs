import { html } from '../lib/workshop.mjs';

const config = (entry, more = '') => `export default {
  mode: 'production',
  entry: '${entry}',
  output: { path: import.meta.dirname + '/dist', publicPath: '/' },
  devServer: { static: 'static', hot: true },
  ${more}
};
`;

export default {
  packages: ['webpack', 'webpack-cli', 'webpack-dev-server'],
  async prepare(shop) {
    await shop.write({
      'static/index.html': html('/main.js'),
      'dist/index.html': html('/main.js'),
      'webpack.config.js': config('./src/page-and-worker.js'),
      // The part for Node, bundled for Node: dynamic imports stay unchanged.
      'node.config.js': config(
        './src/program.mjs',
        `target: 'node20', experiments: { outputModule: true }, externals: { 'fake-indexeddb/auto': 'fake-indexeddb/auto' },`,
      ).replace("'/dist', publicPath: '/'", "'/node', module: true, filename: 'main.mjs'"),
    });
  },
  cases: {
    'build: page and worker': async (shop) => {
      await shop.run('webpack', ['build']);
      return shop.visit(await shop.serve('dist'), ['page', 'worker']);
    },
    'dev server: page and worker': async (shop) => {
      const args = (port) => ['serve', '--mode', 'development', '--port', port, '--no-open'];
      const { url } = await shop.start('webpack', args);
      return shop.visit(url, ['page', 'worker']);
    },
    'bundle for Node: memory, SQLite': async (shop) => {
      const output = await shop.run('webpack', ['build', '--config', 'node.config.js']);
      if (/critical dependency/i.test(output)) throw new Error(output);
      await shop.write({ 'node/package.json': { type: 'module' } });
      return shop.results('node', ['node/main.mjs', 'memory', 'sqlite']);
    },
  },
};
