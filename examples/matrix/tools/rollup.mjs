import { html } from '../lib/workshop.mjs';

export default {
  packages: ['rollup', '@rollup/plugin-node-resolve'],
  prepare: (shop) =>
    shop.write({
      'dist/index.html': html('/page.js'),
      'rollup.config.js': `import { nodeResolve } from '@rollup/plugin-node-resolve';
export default {
  input: 'src/page.js',
  output: { dir: 'dist', format: 'esm' },
  plugins: [nodeResolve({ browser: true })],
};
`,
    }),
  cases: {
    'build: page': async (shop) => {
      await shop.run('rollup', ['-c']);
      return shop.visit(await shop.serve('dist'));
    },
  },
};
