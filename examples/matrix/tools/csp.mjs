import { html } from '../lib/workshop.mjs';

const STRICT =
  "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'none'; img-src data:";

export default {
  title: 'content security policy',
  packages: ['rolldown'],
  version: 'Chromium',
  sample: true,
  async prepare(shop) {
    await shop.write({
      'dist/index.html': html('page.js'),
      'rolldown.config.js': `export default { input: 'src/page.js', output: { dir: 'dist' } };\n`,
    });
    await shop.run('rolldown', ['-c']);
  },
  cases: {
    "with 'wasm-unsafe-eval', no connections, trusted types": async (shop) => {
      const policy = `${STRICT}; require-trusted-types-for 'script'`;
      return shop.visit(await shop.serve('dist', { 'content-security-policy': policy }));
    },
    'without: the error names it': async (shop) => {
      const policy = "script-src 'self'";
      const url = await shop.serve('dist', { 'content-security-policy': policy });
      const { page } = await shop.visit(url);
      const isMeant = page.code === 'unsupported' && page.error.includes("'wasm-unsafe-eval'");
      return { ok: isMeant, error: page.error ?? 'it started', checked: ['unsupported'] };
    },
  },
};
