/** Writes a test file; `head` stands above the imports of the app. */
const test = (storage, head = '') => `${head}
import { memory } from 'hedgerow';
import { expect, it } from 'vitest';
import { modules } from './src/modules.js';
import { scenario } from './src/scenario.js';

it('runs', async () => {
  const { checked } = await scenario(modules, ${storage});
  expect(checked).toContain('live list');
}, 60_000);
`;

const FAKE = "import 'fake-indexeddb/auto';";
const FILES = {
  'node.test.js': test('{ storage: memory() }', '// @vitest-environment node'),
  'jsdom.test.js': test('{ storage: memory() }', '// @vitest-environment jsdom'),
  'jsdom-idb.test.js': test('{}', `// @vitest-environment jsdom\n${FAKE}`),
  'happy-dom.test.js': test('{ storage: memory() }', '// @vitest-environment happy-dom'),
  'happy-dom-idb.test.js': test('{}', `// @vitest-environment happy-dom\n${FAKE}`),
};

const run =
  (...files) =>
  async (shop) => {
    const args = ['run', '--root', shop.dir, ...files];
    const output = await shop.run('vitest', args, { env: { NO_COLOR: '1' } });
    const [, passed] = /Tests\s+(\d+) passed/.exec(output) ?? [];
    return { ok: Number(passed) === files.length, error: output, checked: files };
  };

export default {
  packages: ['vitest', 'jsdom', 'happy-dom', 'fake-indexeddb'],
  sample: true,
  prepare: (shop) => shop.write({ ...FILES, 'vitest.config.js': 'export default {};\n' }),
  cases: {
    node: run('node.test.js'),
    'jsdom, and with fake-indexeddb': run('jsdom.test.js', 'jsdom-idb.test.js'),
    'happy-dom, and with fake-indexeddb': run('happy-dom.test.js', 'happy-dom-idb.test.js'),
  },
};
