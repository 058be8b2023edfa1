import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

// `hedgerow` is the workspace's package, so the torture runs the output of `npm run build`.
export default defineConfig({
  root: fileURLToPath(new URL('page', import.meta.url)),
  logLevel: 'warn',
  build: {
    // A folder for each run, since two may go on at once.
    outDir: process.env.TORTURE_OUT_DIR ?? fileURLToPath(new URL('dist', import.meta.url)),
    emptyOutDir: true,
    target: 'es2022',
  },
});
