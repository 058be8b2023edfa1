import { html } from '../lib/workshop.mjs';

/** Uses raw IndexedDB in the same frame: Hedgerow must do no worse. */
const RAW = `export const raw = () => new Promise((resolve) => {
  try {
    const request = indexedDB.open('raw');
    request.onsuccess = () => resolve('opens');
    request.onerror = () => resolve(String(request.error));
  } catch (error) {
    resolve(String(error));
  }
});
`;
const FRAME = `import { modules } from './modules.js';
import { outcome } from './report.js';
import { scenario } from './scenario.js';
import { raw } from '../raw.js';
const plain = await raw();
parent.postMessage({ plain, ...(await outcome(scenario(modules))) }, '*');
`;
const PAGE = `globalThis.matrixResults = {};
const { searchParams } = new URL(location.href);
addEventListener('message', ({ data }) => { globalThis.matrixResults = { frame: data }; });
const frame = document.createElement('iframe');
if (searchParams.has('sandbox')) frame.sandbox = 'allow-scripts';
frame.src = searchParams.get('frame');
document.body.append(frame);
`;

const visit = async (shop, urlOf, parameters = '') => {
  const url = await shop.serve('dist', { 'access-control-allow-origin': '*' });
  const page = `${url}?frame=${encodeURIComponent(urlOf(url))}${parameters}`;
  const { frame } = await shop.visit(page, ['frame']);
  return frame;
};

export default {
  title: 'frames',
  packages: ['rolldown'],
  version: 'Chromium',
  sample: true,
  async prepare(shop) {
    await shop.write({
      'raw.js': RAW,
      'src/frame.js': FRAME,
      'dist/index.html': html('page.js'),
      'dist/page.js': PAGE,
      'dist/frame.html': html('frame.js'),
      'rolldown.config.js': `export default { input: 'src/frame.js', output: { dir: 'dist' } };\n`,
    });
    await shop.run('rolldown', ['-c']);
  },
  cases: {
    'same origin': (shop) => visit(shop, (url) => `${url}frame.html`),
    'another origin: as raw IndexedDB': async (shop) => {
      const foreign = (url) => `${url.replace('localhost', '127.0.0.1')}frame.html`;
      const frame = await visit(shop, foreign);
      if (frame.plain === 'opens') return frame;
      // Blocked, like cookies of other sites: an app can have a `fallback`.
      return { ok: frame.code === 'unsupported', error: frame.error, note: `raw: ${frame.plain}` };
    },
    'sandboxed: as raw IndexedDB': async (shop) => {
      const frame = await visit(shop, (url) => `${url}frame.html`, '&sandbox');
      const isMeant = frame.plain !== 'opens' && frame.code === 'unsupported';
      return { ok: isMeant, error: `raw: ${frame.plain}; ${frame.error}` };
    },
  },
};
