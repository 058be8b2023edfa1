import { html } from '../lib/workshop.mjs';

/** The manifest: its policy must allow WebAssembly. */
const MANIFEST = {
  manifest_version: 3,
  name: 'Matrix',
  version: '1.0',
  background: { service_worker: 'background.js' },
  content_security_policy: {
    extension_pages: "script-src 'self' 'wasm-unsafe-eval'; object-src 'self'",
  },
};

/** Answers a page of the extension with the result of its own run. */
const BACKGROUND = `import { modules } from './full-modules.js';
import { outcome } from './report.js';
import { scenario } from './scenario.js';

chrome.runtime.onMessage.addListener((message, sender, answer) => {
  outcome(scenario(modules, { name: 'background' })).then(answer);
  return true;
});
`;
const POPUP = `import './page.js';
import { note } from './report.js';
note('background', await chrome.runtime.sendMessage('run'));
`;

export default {
  title: 'MV3 extension',
  version: 'Chromium',
  packages: ['rolldown'],
  async prepare(shop) {
    await shop.write({
      'dist/manifest.json': MANIFEST,
      'dist/popup.html': html('popup.js'),
      'src/background.js': BACKGROUND,
      'src/popup.js': POPUP,
      'rolldown.config.js': `export default [
  { input: 'src/popup.js', output: { dir: 'dist' } },
  { input: 'src/background.js', output: { file: 'dist/background.js', format: 'iife', codeSplitting: false } },
];
`,
    });
    await shop.run('rolldown', ['-c']);
  },
  cases: {
    'page and background worker': (shop) =>
      shop.visits.withExtension(shop.path('dist'), async (context, resultsOf) => {
        const [worker = await context.waitForEvent('serviceworker')] = context.serviceWorkers();
        const page = await context.newPage();
        await page.goto(new URL('/popup.html', worker.url()).href);
        const results = await resultsOf(page, ['page', 'background']);
        // An extension reads its own files without requests.
        return Object.fromEntries(
          Object.entries(results).map(([name, one]) => [name, { ...one, requests: undefined }]),
        );
      }),
  },
};
