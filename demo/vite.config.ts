import { readFileSync } from 'node:fs';
import { defineConfig, type Plugin } from 'vite';
import { isDevBuild, RELEASE_COMMAND } from '../scripts/lib/dev-build.mjs';

// An isolated page may read the clock to 5 µs instead of 100 µs: a query is shorter than a coarse step. Without these
// headers everything works, with coarser times.
const headers = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
};

/** Notes next to figures that the package was built for development. */
const developmentNote: Plugin = {
  name: 'development-note',
  transformIndexHtml(html) {
    const note = `<p class="fine build"><strong>Development build</strong> <code>${RELEASE_COMMAND}</code> builds what ships.</p>`;
    return html.replace('<!-- development build -->', isDevBuild() ? note : '');
  },
};

/** All pages lead to the same places. */
const footer: Plugin = {
  name: 'footer',
  transformIndexHtml: (html) =>
    html.replace('<!-- footer -->', readFileSync(new URL('footer.html', import.meta.url), 'utf8')),
};

export default defineConfig({
  // Relative, so that any folder can serve the built page.
  base: './',
  // A missing data file must be a 404, not the page itself.
  appType: 'mpa',
  plugins: [developmentNote, footer],
  build: {
    // The core is one of the chunks, and larger if it was built for development.
    chunkSizeWarningLimit: 3_000,
    target: 'es2022',
    // The verifier is its own page: what it loads is all that verifying takes.
    rolldownOptions: {
      checks: { pluginTimings: false },
      input: ['index.html', 'sums.html', 'verify.html', 'devices.html', 'device.html'],
    },
  },
  server: { headers },
  preview: { headers },
});
