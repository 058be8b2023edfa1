const test = (storage, head = '') => `${head}
import { memory } from 'hedgerow';
import { modules } from './src/modules.js';
import { scenario } from './src/scenario.js';

test('runs', async () => {
  const { checked } = await scenario(modules, ${storage});
  expect(checked).toContain('live list');
}, 60_000);
`;

/** As in docs/toolchains.md. */
const ENVIRONMENT = `import { TestEnvironment } from 'jest-environment-jsdom';

const NAMES = [
  'DecompressionStream',
  'ReadableStream',
  'Response',
  'TextDecoder',
  'TextEncoder',
  'structuredClone',
];

export default class extends TestEnvironment {
  async setup() {
    await super.setup();
    for (const name of NAMES) this.global[name] = globalThis[name];
  }
}
`;

const run = (file) => async (shop) => {
  const env = { NODE_OPTIONS: '--experimental-vm-modules', NO_COLOR: '1' };
  const output = await shop.run('jest', ['--ci', '--no-cache', file], { env });
  const [, passed] = /Tests:\s+(\d+) passed/.exec(output) ?? [];
  return { ok: Number(passed) === 1, error: output, checked: [file] };
};

export default {
  packages: ['jest', 'jest-environment-jsdom', 'fake-indexeddb'],
  prepare: (shop) =>
    shop.write({
      'node.test.js': test('{ storage: memory() }', '/** @jest-environment node */'),
      'jsdom.test.js': test('{ storage: memory() }', '/** @jest-environment ./browser-like.mjs */'),
      'idb.test.js': test(
        '{}',
        "/** @jest-environment ./browser-like.mjs */\nimport 'fake-indexeddb/auto';",
      ),
      'browser-like.mjs': ENVIRONMENT,
      'jest.config.js': 'export default { transform: {} };\n',
    }),
  cases: {
    'as ESM: node': run('node.test.js'),
    'as ESM: jsdom with globals of Node': run('jsdom.test.js'),
    'as ESM: jsdom with globals of Node, fake-indexeddb': run('idb.test.js'),
  },
};
