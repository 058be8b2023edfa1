// The code of the front page, pasted into an empty Vite project: its list shows rows.

import { frontCode } from '../../../scripts/lib/front-page.mjs';
import { html } from '../lib/workshop.mjs';

/** The list, once all rows are stored and one is updated. */
const SHOWN = ['Fix the gate', 'Issue 99999', 'Issue 99998', 'Issue 99997', 'Issue 99996'];

/** Notes the page's content for the matrix, without importing Hedgerow. */
const WATCH = `
const wanted = ${JSON.stringify(SHOWN)};
globalThis.matrixResults ??= {};
const look = () => {
  const lines = document.body.innerText.split('\\n').map((line) => line.trim()).filter(Boolean);
  if (lines.join() !== wanted.join()) return setTimeout(look, 50);
  globalThis.matrixResults.page = { ok: true, checked: lines };
};
look();
`;

export default {
  title: 'the front page',
  packages: ['vite'],
  sample: true,
  async prepare(shop) {
    await shop.write({
      'index.html': html('/main.ts', '<script type="module" src="/watch.js"></script>'),
      'main.ts': frontCode(),
      'watch.js': WATCH,
    });
  },
  cases: {
    'its code in an empty project, built': async (shop) => {
      await shop.run('vite', ['build']);
      return shop.visit(await shop.serve('dist'));
    },
  },
};
