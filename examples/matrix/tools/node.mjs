export default {
  packages: ['fake-indexeddb'],
  version: process.version,
  sample: true,
  async prepare(shop) {
    await shop.write({
      'required.cjs': `const { destroy, HedgerowError, live, memory, open, table } = require('hedgerow');
const { verifyProof } = require('hedgerow/proofs');
import('./src/scenario.js').then(async ({ scenario }) => {
  const modules = { destroy, HedgerowError, live, open, table, verifyProof };
  const result = await scenario(modules, { storage: memory() });
  console.log(JSON.stringify({ name: 'required', ok: true, ...result }));
});
`,
    });
  },
  cases: {
    'import: memory, SQLite, fake-indexeddb': (shop) =>
      shop.results('node', ['src/program.mjs', 'memory', 'sqlite', 'idb']),
    'require(): memory': (shop) => shop.results('node', ['--no-warnings', 'required.cjs']),
  },
};
