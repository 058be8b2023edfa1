// Compares the cost of checking values for losses in JSON with the cost of `JSON.stringify`: `node
// scripts/studies/measure-values.mjs [--rows 100000]`. Rounds alternate. Prints the fastest round of each, and their ratio.

import { importSource } from '../lib/source.mjs';

const { checkKept } = await importSource('js', 'hedgerow', 'src', 'base', 'check-value.ts');

const at = process.argv.indexOf('--rows');
const count = at < 0 ? 100_000 : Number(process.argv[at + 1]);
const ROUNDS = 15;

const issue = (index) => ({
  id: `issue/${String(index).padStart(8, '0')}`,
  title: `The quick brown fox jumps over issue ${index}`,
  status: index % 3 ? 'open' : 'closed',
  owner: `user${index % 97}`,
  priority: index % 5,
  modified: 1_700_000_000_000 + index,
});
const list = (shape) => Array.from({ length: count }, (_, index) => shape(index));

const shapes = {
  'flat objects': list(issue),
  'with nulls': list((index) => ({ ...issue(index), owner: index % 2 ? null : 'ada' })),
  nested: list((index) => ({ ...issue(index), tags: ['a', 'b'], of: { a: [1, { b: index }] } })),
  'with dates': list((index) => ({ ...issue(index), at: new Date(index) })),
  'arrays of numbers': list((index) => [index, index + 0.5, index * 3, 1e9 + index]),
};

const best = (work, values) => {
  const startMs = performance.now();
  work(values);
  return performance.now() - startMs;
};

for (const [name, values] of Object.entries(shapes)) {
  const [text, walk] = [[], []];
  for (let round = 0; round < ROUNDS; round++) {
    text.push(best((all) => JSON.stringify(all), values));
    walk.push(
      best((all) => {
        for (const value of all) checkKept(value);
      }, values),
    );
  }
  const [textMs, walkMs] = [Math.min(...text), Math.min(...walk)];
  const ratio = ((100 * walkMs) / textMs).toFixed(0);
  const told = `JSON.stringify ${textMs.toFixed(1)} ms, walk ${walkMs.toFixed(1)} ms, ${ratio} %`;
  console.log(`${name.padEnd(20)} ${told}`);
}
