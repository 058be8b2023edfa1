import { html } from '../lib/workshop.mjs';

const ask = (sw, type) => async (shop) => {
  const url = `${await shop.serve('dist')}?sw=${sw}&type=${type}`;
  return shop.visit(url, ['service worker']);
};

export default {
  title: 'service worker',
  packages: ['rolldown'],
  version: 'Chromium',
  sample: true,
  async prepare(shop) {
    const worker = await shop.read('src/service-worker.js');
    await shop.write({
      'dist/index.html': html('page.js'),
      'src/full-service-worker.js': worker.replace('./modules.js', './full-modules.js'),
      'rolldown.config.js': `const classic = { format: 'iife', codeSplitting: false };
export default [
  { input: 'src/ask-service-worker.js', output: { file: 'dist/page.js' } },
  { input: 'src/full-service-worker.js', output: { file: 'dist/classic.js', ...classic } },
  { input: 'src/full-service-worker.js', output: { file: 'dist/module.js' } },
  { input: 'src/service-worker.js', output: { dir: 'dist', entryFileNames: 'plain.js' } },
];
`,
    });
    await shop.run('rolldown', ['-c']);
  },
  cases: {
    'classic, hedgerow/full': ask('classic.js', 'classic'),
    'module, hedgerow/full': ask('module.js', 'module'),
    'module, hedgerow: the error names hedgerow/full': async (shop) => {
      const { 'service worker': result } = await ask('plain.js', 'module')(shop);
      const isMeant = result.detail === 'not-loaded' && result.error.includes('hedgerow/full');
      return { ok: isMeant, error: result.error ?? 'it ran', checked: ['not-loaded'] };
    },
  },
};
