import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const root = fileURLToPath(new URL('pages', import.meta.url));
const pages = readdirSync(root).filter((file) => file.endsWith('.html'));

// `hedgerow` is the workspace's package, so what is tested is what `npm run build` made.
export default defineConfig({
  root,
  build: {
    outDir: fileURLToPath(new URL('dist', import.meta.url)),
    emptyOutDir: true,
    target: 'es2022',
    rolldownOptions: { input: pages.map((file) => `${root}/${file}`) },
  },
  worker: { format: 'es' },
});
