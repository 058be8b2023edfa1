import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

// These keep other origins out, so that `performance.now()` ticks in 5 microseconds, not 100.
const headers = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
};

// `hedgerow` is the workspace's package, so the benchmarks measure the output of `npm run build`.
export default defineConfig({
  root: fileURLToPath(new URL('page', import.meta.url)),
  logLevel: 'warn',
  build: {
    // A folder for each run, since two may go on at once.
    outDir: process.env.BENCH_OUT_DIR ?? fileURLToPath(new URL('dist', import.meta.url)),
    emptyOutDir: true,
    target: 'es2022',
    chunkSizeWarningLimit: 2000,
    rolldownOptions: {
      // doltlite-wasm names modules of Node that it does not use in a browser.
      onLog: (level, log, next) => {
        if (!log.message.includes('externalized for browser compatibility')) next(level, log);
      },
    },
    // A CPU profile must be readable.
    minify: process.env.BENCH_PROFILE === undefined,
  },
  worker: { format: 'es' },
  preview: { headers },
});
