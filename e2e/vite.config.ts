import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build, defineConfig, type Plugin } from 'vite';

const root = fileURLToPath(new URL('pages', import.meta.url));
const pages = readdirSync(root).filter((file) => file.endsWith('.html'));

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
  plugins: [classicService],
});
