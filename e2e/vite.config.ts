import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build, defineConfig, type Plugin } from 'vite';

const root = fileURLToPath(new URL('pages', import.meta.url));
/** Pages with elements or scripts of their own. */
const written = readdirSync(root).filter((file) => file.endsWith('.html'));

/** Pages with a module alone, by the names of both, and their titles. */
const PLAIN = {
  encryption: 'A store that is encrypted',
  import: 'An app that had another store before',
  index: 'Hedgerow: test page',
  lazy: 'Hedgerow: lazy clones',
  'remote-store': 'Hedgerow: a store in a worker',
  service: 'Hedgerow: service workers',
  slim: 'A store of hedgerow/slim',
  store: 'A store',
  sums: 'A page that verifies sums',
  suspended: 'A tab that is suspended',
  tables: 'An app of one version',
  tabs: 'One of several tabs',
  verify: 'A page without a store',
  worker: 'A store in a worker',
};
const pages = [...written, ...Object.keys(PLAIN).map((name) => `${name}.html`)];

const html = (title: string, name: string) => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <link rel="icon" href="data:," />
    <title>${title}</title>
  </head>
  <body>
    <script type="module" src="./${name}.ts"></script>
  </body>
</html>
`;

/** Writes the plain pages while Vite builds. */
const plainPages: Plugin = {
  name: 'plain-pages',
  enforce: 'pre',
  resolveId: (id) => (plainOf(id) ? id : null),
  load: (id) => plainOf(id) ?? null,
};

/** Returns the text of a plain page by its path. */
function plainOf(path: string): string | undefined {
  const found = Object.entries(PLAIN).find(([name]) => path === `${root}/${name}.html`);
  return found && html(found[1], found[0]);
}

const dist = fileURLToPath(new URL('dist', import.meta.url));

/** Also bundles a service worker as a classic script, the only kind that some browsers take. */
const classicService: Plugin = {
  name: 'classic-service',
  async closeBundle() {
    const file = 'remote-service';
    await build({
      configFile: false,
      root,
      logLevel: 'warn',
      build: {
        outDir: dist,
        emptyOutDir: false,
        copyPublicDir: false,
        target: 'es2022',
        lib: { entry: `${root}/${file}.ts`, formats: ['iife'], name: 'service' },
        rolldownOptions: { output: { entryFileNames: `${file}.classic.js` } },
      },
    });
  },
};

// `hedgerow` is the workspace's package, so the tests run the output of `npm run build`.
export default defineConfig({
  root,
  build: {
    outDir: dist,
    emptyOutDir: true,
    target: 'es2022',
    rolldownOptions: { input: pages.map((file) => `${root}/${file}`) },
  },
  worker: { format: 'es' },
  plugins: [plainPages, classicService],
});
