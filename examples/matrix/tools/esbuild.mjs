import { html } from '../lib/workshop.mjs';

const bundle = (shop, ...args) =>
  shop.run('esbuild', ['--bundle', '--minify', '--outdir=dist', '--log-level=warning', ...args]);

export default {
  packages: ['esbuild'],
  prepare: (shop) => shop.write({ 'dist/index.html': html('/page.js') }),
  cases: {
    'split: page and worker': async (shop) => {
      // esbuild takes no worker out of a page, so an app names its built file.
      const page = (await shop.read('src/page-and-worker.js')).replace(
        "new URL('./worker.js', import.meta.url)",
        "'/worker.js'",
      );
      await shop.write({ 'src/both.js': page, 'dist/both.html': html('/both.js') });
      await bundle(shop, '--splitting', '--format=esm', 'src/both.js', 'src/worker.js');
      return shop.visit(`${await shop.serve('dist')}both.html`, ['page', 'worker']);
    },
    'iife: page': async (shop) => {
      await shop.write({
        'iife/index.html': html('/page.js').replace(' type="module"', ''),
      });
      await bundle(shop, '--format=iife', 'src/page.js', '--outdir=iife');
      return shop.visit(await shop.serve('iife'));
    },
    'iife: classic service worker': async (shop) => {
      await shop.write({ 'sw/index.html': html('/ask-service-worker.js') });
      await bundle(shop, '--format=esm', 'src/ask-service-worker.js', '--outdir=sw');
      await bundle(shop, '--format=iife', 'src/service-worker.js', '--outdir=sw');
      const url = `${await shop.serve('sw')}?sw=service-worker.js&type=classic`;
      return shop.visit(url, ['service worker']);
    },
  },
};
