import { html } from '../lib/workshop.mjs';

/** Runs the scenario again without a network: all lazy parts come from the precache. */
async function offline({ page, context, results }) {
  await results(['page']);
  await page.evaluate(async () => {
    await navigator.serviceWorker.ready;
    if (navigator.serviceWorker.controller === null) {
      await new Promise((resolve) =>
        navigator.serviceWorker.addEventListener('controllerchange', resolve, { once: true }),
      );
    }
  });
  await context.setOffline(true);
  await page.reload({ waitUntil: 'commit' });
  return results(['page']);
}

export default {
  packages: ['vite-plugin-pwa', 'vite'],
  prepare: (shop) =>
    shop.write({
      'index.html': html('/src/page.js'),
      'vite.config.js': `import { VitePWA } from 'vite-plugin-pwa';
export default {
  build: { target: 'es2022' },
  plugins: [
    VitePWA({
      registerType: 'autoUpdate',
      injectRegister: 'script',
      workbox: { clientsClaim: true, skipWaiting: true },
    }),
  ],
};
`,
    }),
  cases: {
    'precache: the scenario offline': async (shop) => {
      await shop.run('vite', ['build']);
      return shop.visit(await shop.serve('dist'), ['page'], { after: offline });
    },
  },
};
