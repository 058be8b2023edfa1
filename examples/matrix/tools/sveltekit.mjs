const PAGE = `<script>
  import { onMount } from 'svelte';
  import { modules } from '../../src/modules.js';
  import { fetched, note, outcome } from '../../src/report.js';
  import { scenario } from '../../src/scenario.js';
  onMount(async () => note('page', await outcome(scenario(modules, { onOpen: fetched }))));
</script>
`;
const ENDPOINT = `import { memory } from 'hedgerow';
import { modules } from '../../../src/modules.js';
import { outcome } from '../../../src/report.js';
import { scenario } from '../../../src/scenario.js';
export const GET = async () => Response.json(await outcome(scenario(modules, { storage: memory() })));
`;

async function visit(shop, url) {
  const results = await shop.visit(url);
  return { ...results, endpoint: await (await fetch(`${url}/api`)).json() };
}

export default {
  packages: [
    '@sveltejs/kit',
    '@sveltejs/vite-plugin-svelte',
    '@sveltejs/adapter-node',
    'svelte',
    'vite',
  ],
  prepare: (shop) =>
    shop.write({
      'vite.config.js': `import { sveltekit } from '@sveltejs/kit/vite';
export default { plugins: [sveltekit()], build: { target: 'es2022' } };
`,
      'svelte.config.js': `import adapter from '@sveltejs/adapter-node';
export default { kit: { adapter: adapter(), files: { routes: 'pages/routes', appTemplate: 'pages/app.html' } } };
`,
      'pages/app.html': `<!doctype html>
<html lang="en"><head>%sveltekit.head%</head><body><div>%sveltekit.body%</div></body></html>
`,
      'pages/routes/+page.svelte': PAGE,
      'pages/routes/api/+server.js': ENDPOINT,
    }),
  cases: {
    'build (adapter-node): page and endpoint': async (shop) => {
      await shop.run('vite', ['build']);
      const { url } = await shop.start('node', () => ['build/index.js'], { path: '' });
      return visit(shop, url);
    },
    'dev: page and endpoint': async (shop) => {
      const { url } = await shop.start('vite', (port) => ['dev', '--port', port], { path: '' });
      return visit(shop, url);
    },
  },
};
