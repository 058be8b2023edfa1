// `node abstract-level.mjs dir report stores|prefixes`: runs the suite in its own process, and writes its tests.

import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { HedgerowLevel } from '../../../../js/adapters/dist/abstract-level.js';
import { memory, open } from '../../../../js/hedgerow/dist/index.js';

const [, , dir, report, how] = process.argv;
const require = createRequire(`${dir}/`);
const test = createRequire(new URL('../../../../js/hedgerow/package.json', import.meta.url))(
  'tape',
);

// First: tape ends once it has no test left to run.
const shared = await open('all', { storage: memory() });
const tests = new Map();
test.createStream({ objectMode: true }).on('data', (row) => {
  if (row.type === 'test') {
    tests.set(row.id, { test: `${how}: ${row.name}`, state: row.skip ? 'skipped' : 'passed' });
  }
  if (row.type === 'assert' && !row.ok) {
    Object.assign(tests.get(row.test), { state: 'failed', message: row.name });
  }
});
test.onFinish(() => writeFileSync(report, JSON.stringify([...tests.values()])));

let made = 0;
require('./test')({
  test,
  factory(options) {
    made += 1;
    return how === 'stores'
      ? new HedgerowLevel(() => open(`level ${made}`, { storage: memory() }), options)
      : new HedgerowLevel(shared, { ...options, prefix: `level/é/${made}/` });
  },
});
