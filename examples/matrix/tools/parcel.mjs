import { html } from '../lib/workshop.mjs';

const build = (shop, page) =>
  shop.run('parcel', ['build', '--no-cache', '--dist-dir', 'dist', page]);

export default {
  packages: ['parcel'],
  // As installed: Parcel does not read `exports` of packages.
  prepare: (shop) =>
    shop.write({
      'page/index.html': html('../src/page.js'),
      'both/index.html': html('../src/page-and-worker.js'),
    }),
  cases: {
    'build, as installed: page': async (shop) => {
      await build(shop, 'page/index.html');
      return shop.visit(await shop.serve('dist'));
    },
    'dev, as installed: page and worker': async (shop) => {
      const args = (port) => ['serve', '--no-cache', '--port', port, '--dist-dir', 'served'];
      const both = (port) => [...args(port), 'both/index.html'];
      const { url } = await shop.start('parcel', both);
      return shop.visit(url, ['page', 'worker']);
    },
    'build, disableSharedBundles: page and worker': async (shop) => {
      // Otherwise a built worker does not load the code that it shares with the page: `Cannot find module 'dcHjI'`.
      const manifest = JSON.parse(await shop.read('package.json'));
      const setting = { '@parcel/bundler-default': { disableSharedBundles: true } };
      await shop.write({ 'package.json': { ...manifest, ...setting } });
      await shop.empty('dist');
      await build(shop, 'both/index.html');
      return shop.visit(await shop.serve('dist'), ['page', 'worker']);
    },
  },
};
