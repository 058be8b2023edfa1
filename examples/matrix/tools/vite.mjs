import { html } from '../lib/workshop.mjs';

const build = async (shop) => {
  await shop.run('vite', ['build']);
  return shop.visit(await shop.serve('dist'), ['page', 'worker']);
};

/** As an app has it; workers that load parts later must be modules. */
const FORMAT = `worker: { format: 'es' },`;
const CONFIG = `export default {
  build: { target: 'es2022' },
  ${FORMAT}
};
`;

export default {
  packages: ['vite'],
  sample: ['build: page and worker'],
  async prepare(shop) {
    await shop.write({
      'index.html': html('/src/page-and-worker.js'),
      'vite.config.js': CONFIG,
    });
  },
  cases: {
    'build: page and worker': build,
    'dev: page and worker': async (shop) => {
      const { url } = await shop.start('vite', (port) => ['--port', port, '--strictPort']);
      return shop.visit(url, ['page', 'worker']);
    },
    'build, worker.format as it comes: refused for a worker of hedgerow': async (shop) => {
      await shop.write({ 'vite.config.js': CONFIG.replace(FORMAT, '') });
      const failure = await shop.run('vite', ['build']).catch((error) => error);
      const isMeant = /not supported for code-splitting builds/.test(failure.output ?? '');
      return { ok: isMeant, error: failure.message ?? 'it built', checked: ['refusal'] };
    },
    'build, worker.format as it comes: a worker of hedgerow/full': async (shop) => {
      await shop.write({
        'vite.config.js': CONFIG.replace(FORMAT, ''),
        'src/worker.js': (await shop.read('src/worker.js')).replace('./modules', './full-modules'),
      });
      return build(shop);
    },
  },
};
