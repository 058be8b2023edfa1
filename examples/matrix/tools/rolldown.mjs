import { html } from '../lib/workshop.mjs';

/** The same page with a wait in its module: its importers must wait, too, so the build has more files. */
const WAITING = `import { modules } from './modules.js';
import { fetched, note, outcome } from './report.js';
import { scenario } from './scenario.js';

note('page', await outcome(scenario(modules, { name: 'page', onOpen: fetched })));
`;

const build = (entry) => async (shop) => {
  await shop.empty('dist');
  await shop.write({ 'dist/index.html': html('main.js') });
  await shop.run('rolldown', ['-c', '--input', entry]);
  return shop.visit(await shop.serve('dist'));
};

export default {
  packages: ['rolldown'],
  sample: ['build: page'],
  prepare: (shop) =>
    shop.write({
      'src/waiting.js': WAITING,
      'rolldown.config.js': `export default {
  platform: 'browser',
  output: { dir: 'dist', entryFileNames: 'main.js', format: 'esm', minify: true },
};
`,
    }),
  cases: {
    'build: page': build('src/page.js'),
    'build: page with a top-level await': build('src/waiting.js'),
  },
};
