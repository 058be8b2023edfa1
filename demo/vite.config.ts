import { defineConfig } from 'vite';

// An isolated page may read the clock to 5 µs instead of 100 µs: a query takes less than
// the coarse clock can tell. Without these headers everything works, with coarser times.
const headers = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
};

export default defineConfig({
  // Relative, so that the built page can be served from any folder.
  base: './',
  // A missing data file must be a 404, not the page itself.
  appType: 'mpa',
  build: {
    target: 'es2022',
    // The verifier is a page of its own: what it loads is all that verifying takes.
    rolldownOptions: {
      input: ['index.html', 'sums.html', 'verify.html', 'devices.html', 'device.html'],
    },
  },
  server: { headers },
  preview: { headers },
});
