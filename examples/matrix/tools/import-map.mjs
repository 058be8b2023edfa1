import { cp, readdir } from 'node:fs/promises';
import { html } from '../lib/workshop.mjs';

/** Makes an import map from the `exports` of the package, and of the package that it needs. */
async function importMap(shop) {
  const { exports } = JSON.parse(await shop.read('node_modules/hedgerow/package.json'));
  const entries = Object.entries(exports).filter(([, target]) => target.default !== undefined);
  const imports = Object.fromEntries(
    entries.map(([path, target]) => [
      path.replace('.', 'hedgerow'),
      target.default.replace('.', '/hedgerow'),
    ]),
  );
  return JSON.stringify({ imports: { ...imports, '@noble/hashes/': '/noble/' } });
}

/** Uses one file of the package in a page; the rest of the package is not served. */
const ONE_FILE = `import { fetched, note, outcome } from './report.js';
import { modules } from './full-modules.js';
import { scenario } from './scenario.js';

note('page', await outcome(scenario(modules, { onOpen: fetched })));
`;

export default {
  title: 'no bundler',
  version: 'Chromium',
  sample: true,
  async prepare(shop) {
    await cp(shop.path('node_modules/hedgerow/dist'), shop.path('site/hedgerow/dist'), {
      recursive: true,
    });
    const noble = (await readdir(shop.path('node_modules')).catch(() => [])).includes('@noble')
      ? shop.path('node_modules/@noble/hashes')
      : shop.fromRoot('@noble/hashes');
    await cp(noble, shop.path('site/noble'), { recursive: true });
    await cp(shop.path('src'), shop.path('site/src'), { recursive: true });
    const map = `<script type="importmap">${await importMap(shop)}</script>`;
    await shop.write({
      'site/index.html': html('/src/page.js', map),
      'one/index.html': html('/page.js'),
      'one/page.js': ONE_FILE,
      'one/full-modules.js': (await shop.read('src/full-modules.js')).replace(
        'hedgerow/full',
        './full.js',
      ),
    });
    for (const name of ['report.js', 'scenario.js']) {
      await cp(shop.path('src', name), shop.path('one', name));
    }
    await cp(shop.path('node_modules/hedgerow/dist/full.js'), shop.path('one/full.js'));
  },
  cases: {
    'import map': async (shop) => shop.visit(await shop.serve('site')),
    'one file, hedgerow/full': async (shop) => shop.visit(await shop.serve('one')),
  },
};
